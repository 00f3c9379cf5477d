import type { Address, Hex } from 'viem'
import { parseAbi, parseEventLogs, toEventSelector } from 'viem/utils'
import { MAX_CALLS_PER_BATCH, type NodeClient } from '../chain/nodeClient.js'
import { getBlock, getLogsOfRange, getTransactionReceipts } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Log } from '../erc4337/entryPoint.js'

/*
 * Movements of money as the chain's logs have them. This shares no code with the bundler, which decodes the same
 * logs for the ledger: `purser ledger verify` is worth as much as it is independent.
 */

const abi = parseAbi([
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
  'event Deposited(address indexed account, uint256 totalDeposit)',
  'event Withdrawn(address indexed account, address withdrawAddress, uint256 amount)',
  'event TokensPaid(bytes32 indexed userOpHash, address indexed sender, address indexed token, uint256 charged, uint256 cost)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

function topicOf(name: (typeof abi)[number]['name']): Hex {
  return toEventSelector(abi.find((event) => event.name === name)!)
}

/** Tanks of one question for logs: nodes bound the length of a filter. */
const TANKS_PER_FILTER = 500

type Place = {
  readonly blockNumber: bigint
  readonly logIndex: number
  readonly transactionHash: Hex
}

/** An operation that a tank paid. */
export type ChainCharge = Place & {
  readonly entryPoint: Address
  readonly tank: Address
  readonly userOpHash: Hex
  readonly sender: Address
  readonly success: boolean
  /** wei */
  readonly cost: bigint
}

/** A change of a tank's deposit other than a charge, wei: `total` is what was there after a deposit. */
export type DepositChange = Place & {
  readonly entryPoint: Address
  readonly tank: Address
} & (
    | { readonly kind: 'deposited'; readonly total: bigint }
    | { readonly kind: 'withdrawn'; readonly amount: bigint }
  )

/** Tokens that a tank says it took for an operation. */
export type ChainPayment = {
  readonly token: Address
  readonly charged: bigint
  /** wei */
  readonly cost: bigint
}

export type ChainMoney = {
  /** In the chain's order, as are the deposits. */
  readonly charges: readonly ChainCharge[]
  readonly deposits: readonly DepositChange[]
  readonly payments: ReadonlyMap<Hex, ChainPayment>
}

type TankPlace = {
  readonly entryPoint: Address
  readonly address: Address
  readonly kind: 'gas' | 'token'
}

/** All that the chain logged about the tanks' money in a range of blocks. */
export async function readChainMoney(
  node: NodeClient,
  tanks: readonly TankPlace[],
  from: bigint,
  to: bigint,
): Promise<ChainMoney> {
  const logs: Log[] = []
  const paid: Log[] = []
  for (let at = 0; at < tanks.length; at += TANKS_PER_FILTER) {
    const some = tanks.slice(at, at + TANKS_PER_FILTER)
    const address = [...new Set(some.map(({ entryPoint }) => entryPoint))]
    const accounts = some.map((tank): Hex => `0x${tank.address.slice(2).padStart(64, '0')}`)
    const charges = [topicOf('UserOperationEvent'), null, null, accounts]
    const deposits = [[topicOf('Deposited'), topicOf('Withdrawn')], accounts]
    for (const topics of [charges, deposits])
      logs.push(...(await getLogsOfRange(node, { address, topics }, from, to)))
    const paying = some.flatMap(({ kind, address: tank }) => (kind === 'token' ? [tank] : []))
    if (paying.length === 0) continue
    const topics = [topicOf('TokensPaid')]
    paid.push(...(await getLogsOfRange(node, { address: paying, topics }, from, to)))
  }
  return { ...movementsOf(logs), payments: paymentsOf(paid) }
}

function movementsOf(logs: readonly Log[]): Pick<ChainMoney, 'charges' | 'deposits'> {
  const charges: ChainCharge[] = []
  const deposits: DepositChange[] = []
  for (const log of logs.toSorted(byPlace)) {
    const { blockNumber, logIndex, transactionHash } = log
    const place = { entryPoint: log.address, blockNumber, logIndex, transactionHash }
    const event = decode(log)
    if (event?.eventName === 'UserOperationEvent') {
      const { userOpHash, sender, paymaster, success, actualGasCost: cost } = event.args
      charges.push({
        ...place,
        tank: lower(paymaster),
        userOpHash,
        sender: lower(sender),
        success,
        cost,
      })
    }
    if (event?.eventName === 'Deposited') {
      const { account, totalDeposit: total } = event.args
      deposits.push({ ...place, tank: lower(account), kind: 'deposited', total })
    }
    if (event?.eventName === 'Withdrawn') {
      const { account, amount } = event.args
      deposits.push({ ...place, tank: lower(account), kind: 'withdrawn', amount })
    }
  }
  return { charges, deposits }
}

function paymentsOf(logs: readonly Log[]): Map<Hex, ChainPayment> {
  const payments = new Map<Hex, ChainPayment>()
  for (const log of logs) {
    const event = decode(log)
    if (event?.eventName !== 'TokensPaid') continue
    const { userOpHash, token, charged, cost } = event.args
    payments.set(userOpHash, { token: lower(token), charged, cost })
  }
  return payments
}

/** Negative where `a` is the earlier one on the chain. */
export function byPlace(a: Omit<Place, 'transactionHash'>, b: typeof a): number {
  return Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex
}

/** The receipts of these transactions that are on the chain, by hash. */
export async function readReceipts(
  node: NodeClient,
  transactions: readonly Hex[],
): Promise<ReadonlyMap<Hex, TransactionReceipt>> {
  const receipts = new Map<Hex, TransactionReceipt>()
  const hashes = [...new Set(transactions)]
  for (let at = 0; at < hashes.length; at += MAX_CALLS_PER_BATCH)
    for (const receipt of await getTransactionReceipts(
      node,
      hashes.slice(at, at + MAX_CALLS_PER_BATCH),
    ))
      receipts.set(receipt.transactionHash, receipt)
  return receipts
}

/** The gas that the EntryPoint counted for an operation of this transaction; undefined = it is not in it. */
export function gasUsedIn({ logs }: TransactionReceipt, userOpHash: Hex): bigint | undefined {
  for (const log of logs) {
    const event = decode(log)
    if (event?.eventName === 'UserOperationEvent' && event.args.userOpHash === userOpHash)
      return event.args.actualGasUsed
  }
  return undefined
}

/** The units of a token that `from` sent to `to` in this transaction beyond what came back. */
export function sentIn(
  { logs }: TransactionReceipt,
  token: Address,
  from: Address,
  to: Address,
): bigint {
  let sent = 0n
  for (const log of logs.filter(({ address }) => address === token)) {
    const event = decode(log)
    if (event?.eventName !== 'Transfer') continue
    const [giver, taker] = [lower(event.args.from), lower(event.args.to)]
    if (giver === from && taker === to) sent += event.args.value
    if (giver === to && taker === from) sent -= event.args.value
  }
  return sent
}

/** The first block whose time is not before `timestamp` (Unix seconds); `newest` where all are. */
export async function blockAt(
  node: NodeClient,
  timestamp: number,
  newest: bigint,
): Promise<bigint> {
  let [low, high] = [0n, newest]
  while (low < high) {
    const middle = (low + high) / 2n
    const block = await getBlock(node, middle)
    // A node that has deleted its oldest blocks has none that are worth reading there.
    if (block === undefined || block.timestamp < timestamp) low = middle + 1n
    else high = middle
  }
  return low
}

function decode({ address, topics, data }: Log) {
  const log = { address, topics, data } as never
  return parseEventLogs({ abi, logs: [log], strict: true })[0]
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address
}
