import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import type { NodeClient } from '../chain/nodeClient.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { toHex } from '../evm/index.js'
import type { BundleTransaction, ChainEngine, ReplayedBundle } from '../simulation/chainEngine.js'
import { ownBundleTransaction } from './outbox/bundles.js'

/** A second run of a mined bundle. `differs`: our EVM does not do what the chain did; `unanswered`: it is not known here. */
type SecondRun = ReplayedBundle | 'differs' | 'unanswered'

/** A bundle that was mined. */
export type MinedBundle = {
  readonly receipt: TransactionReceipt
  readonly entryPoint: EntryPoint
  /** Runs it again, once for all who ask. Throws CannotSimulateError, or NodeUnavailableError. */
  again(): Promise<SecondRun>
}

type RunContext = {
  readonly chainId: number
  readonly database: Database
  readonly replay: ChainEngine['replay']
  /** The node that knows the bundles of others; absent = only ours are run again. */
  readonly node?: Pick<NodeClient, 'request'>
}

/** A mined bundle, which is run again when somebody asks. */
export function minedBundle(
  context: RunContext,
  receipt: TransactionReceipt,
  entryPoint: EntryPoint,
): MinedBundle {
  let run: Promise<SecondRun> | undefined
  const again = () => {
    run ??= runAgain(context, receipt, entryPoint)
    return run
  }
  return { receipt, entryPoint, again }
}

async function runAgain(
  context: RunContext,
  receipt: TransactionReceipt,
  entryPoint: EntryPoint,
): Promise<SecondRun> {
  const transaction =
    (await ownTransaction(context, receipt)) ?? (await foreignTransaction(context, receipt))
  if (transaction === undefined) return 'unanswered'
  const run = await context.replay(entryPoint, receipt.blockHash, transaction)
  return repeats(run, receipt) ? run : 'differs'
}

/** The transaction of a bundle as we sent it; undefined where it is not ours. */
async function ownTransaction(
  { database, chainId }: RunContext,
  { transactionHash, from, effectiveGasPrice }: TransactionReceipt,
): Promise<BundleTransaction | undefined> {
  const own = await ownBundleTransaction(database, chainId, transactionHash)
  if (own === undefined) return undefined
  const { data = '0x', gas = 0n, authorizationList = [] } = parseTransaction(own.raw)
  const authorizations = authorizationList.map(authorizationOf)
  return { from, data, gas: Number(gas), gasPrice: effectiveGasPrice, authorizations }
}

/** What of a transaction the node gives. */
type NodeTransaction = {
  readonly input: Hex
  readonly gas: Hex
  readonly accessList?: BundleTransaction['accessList'] | null
  readonly authorizationList?: readonly Parameters<typeof authorizationOf>[0][] | null
}

async function foreignTransaction(
  { node }: RunContext,
  { transactionHash, from, effectiveGasPrice }: TransactionReceipt,
): Promise<BundleTransaction | undefined> {
  const params = [transactionHash]
  const sent = await node?.request<NodeTransaction | null>('eth_getTransactionByHash', params)
  if (sent == null) return undefined
  return {
    from,
    data: sent.input,
    gas: Number(sent.gas),
    gasPrice: effectiveGasPrice,
    authorizations: (sent.authorizationList ?? []).map(authorizationOf),
    accessList: sent.accessList ?? [],
  }
}

function authorizationOf({
  chainId,
  address,
  nonce,
  yParity,
  r,
  s,
}: {
  readonly chainId: number | Hex
  readonly address: Address
  readonly nonce: number | Hex
  readonly yParity?: number | Hex | undefined
  readonly r: Hex
  readonly s: Hex
}): BundleTransaction['authorizations'][number] {
  return {
    chainId: BigInt(chainId),
    address: address.toLowerCase() as Address,
    nonce: BigInt(nonce),
    yParity: Number(yParity ?? 0),
    r: BigInt(r),
    s: BigInt(s),
  }
}

/** Whether the run did what the chain did: the same status, the same logs and, to the unit, the same gas. */
function repeats({ success, gasUsed, logs }: ReplayedBundle, receipt: TransactionReceipt): boolean {
  const { status, gasUsedForL1 = 0n } = receipt
  return (
    success === (status === 1) &&
    BigInt(gasUsed) === receipt.gasUsed - gasUsedForL1 &&
    logs.length === receipt.logs.length &&
    logs.every(({ address, topics, data }, at) => {
      const mined = receipt.logs[at]
      return (
        mined?.address === address &&
        mined.topics.join() === topics.join() &&
        mined.data === toHex(data)
      )
    })
  )
}
