import { type Address, createPublicClient, type Hex, http, type PublicClient } from 'viem'
import { launchAnvil } from '../../../src/cli/devnet/anvilProcess.js'
import { endProcess } from '../../../src/cli/devnet/processIdentity.js'
import { type NodeKind, nodeKind } from '../nodes/nodeKind.js'
import { startNode, type TestNode } from '../nodes/startNode.js'
import { untilPoolIsEmpty } from '../nodes/testMethods.js'
import { until } from '../until.js'

export type Receipt = {
  readonly status: Hex
  readonly gasUsed: Hex
  readonly transactionHash: Hex
  readonly contractAddress: Address | null
  readonly logs: readonly {
    readonly address: Address
    readonly topics: readonly Hex[]
    readonly data: Hex
    readonly blockNumber: Hex
    readonly blockHash: Hex
    readonly transactionHash: Hex
    readonly transactionIndex: Hex
    readonly logIndex: Hex
  }[]
}

export type Transaction = {
  readonly from?: Address
  readonly to?: Address
  readonly data?: Hex
  readonly value?: Hex
  readonly gas?: Hex
}

export type Anvil = {
  readonly url: string
  /** For a service: the node itself, without the methods of tests. */
  readonly nodeUrl: string
  /** Where the node announces heads. */
  readonly wsUrl: string
  readonly client: PublicClient
  readonly account: Address
  request(method: string, params: readonly unknown[]): Promise<unknown>
  /** Sends from the first unlocked account and returns the receipt, also of a failed transaction. */
  send(transaction: Transaction): Promise<Receipt>
  stop(): Promise<void>
}

const ANVIL_ACCOUNT: Address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

/**
 * Fees for whatever the base fee is: anvil suggests by the last block, and behind an `evm_revert` the base fee may be
 * higher again. A transaction below it would wait for ever.
 */
const AMPLE_FEES = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x3b9aca00' } as const

/** A fresh node on a free port, anvil or the one that the run asks for; `stop` ends it. */
export async function startAnvil(
  args: readonly string[] = [],
  kind: NodeKind = nodeKind(),
): Promise<Anvil> {
  const { rpcUrl: url, nodeUrl, wsUrl, stop } = await launch(args, kind)
  const client = createPublicClient({
    transport: http(url, { retryCount: 0, timeout: 60_000 }),
    pollingInterval: 10,
  })
  const ask: Anvil['request'] = (method, params) =>
    client.request({ method, params } as unknown as Parameters<typeof client.request>[0])
  const request: Anvil['request'] = async (method, params) => {
    // anvil shows a receipt before its pool lets go of the transaction. Behind an evm_revert, it would then also drop the
    // next one with that nonce.
    if (method === 'evm_revert' && kind === 'anvil') await untilPoolIsEmpty((name) => ask(name, []))
    return ask(method, params)
  }
  return {
    url,
    nodeUrl,
    wsUrl,
    client,
    account: ANVIL_ACCOUNT,
    request,
    send: async (transaction) => {
      const priced = { from: ANVIL_ACCOUNT, ...AMPLE_FEES, ...transaction }
      const hash = await request('eth_sendTransaction', [priced])
      return untilMined(request, hash as Hex)
    },
    stop,
  }
}

const DEFAULT_CHAIN_ID = 31_337

async function launch(
  args: readonly string[],
  kind: NodeKind,
): Promise<Pick<TestNode, 'rpcUrl' | 'nodeUrl' | 'wsUrl' | 'stop'>> {
  const [name, chainId = DEFAULT_CHAIN_ID, ...more] = args
  const isPlain = name === undefined || (name === '--chain-id' && more.length === 0)
  if (kind !== 'anvil') {
    if (!isPlain) throw new Error(`only anvil knows ${args.join(' ')}`)
    return startNode(Number(chainId), kind)
  }
  const anvil = await launchAnvil(args, 0, () => {})
  const url = `http://127.0.0.1:${anvil.port}`
  return {
    rpcUrl: url,
    nodeUrl: url,
    wsUrl: url.replace('http', 'ws'),
    stop: async () => {
      await endProcess(anvil)
      await anvil.watchdog.dismiss()
    },
  }
}

/** @throws Error when it is not mined, with what the node knows of it */
async function untilMined(request: Anvil['request'], hash: Hex): Promise<Receipt> {
  const receipt = () => request('eth_getTransactionReceipt', [hash]) as Promise<Receipt | null>
  return until(receipt).catch(async (error: unknown) => {
    const known = await request('eth_getTransactionByHash', [hash])
    const pool = await request('txpool_status', [])
    throw new Error(`${hash} is not mined: ${JSON.stringify({ known, pool })}`, { cause: error })
  })
}
