import type { Hex } from 'viem'
import { encodeAbiParameters } from 'viem/utils'
import { readNonces } from '../../chain/entryPointReads.js'
import { decodeHead, type Head, headRequest } from '../../chain/head.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import {
  getBlock,
  getLogsOfBlocks,
  getLogsOfRange,
  getNewestLogs,
  getTransactionReceipt,
} from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { EntryPoint, Log, OperationOutcome } from '../../erc4337/entryPoint.js'
import {
  type ExpiredReservation,
  expiredReservations,
} from '../../paymaster/ledger/reservations.js'
import type { BundlingContext } from '../bundlingContext.js'

const USER_OPERATION_EVENT_TOPIC: Hex =
  '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'

/**
 * Blocks so near the head that a node may not have them yet. Asked for a range that ends there, such a
 * node answers with the logs that it has, which looks like an answer; asked for a hash, it refuses.
 */
const YOUNG_BLOCKS = 64n

type EventContext = Pick<BundlingContext, 'entryPoints' | 'node'>

/**
 * All UserOperationEvents of our EntryPoints from block `from` to block `to`. Blocks near `head` are asked
 * for one by one, by their hashes, older ones as a range. Undefined when the node does not have all
 * these blocks, or when they are not one chain.
 */
export async function readEvents(
  { entryPoints, node }: EventContext,
  from: bigint,
  to: Head,
  head: Head,
): Promise<readonly Log[] | undefined> {
  const filter = {
    address: entryPoints.map(({ address }) => address),
    topics: [USER_OPERATION_EVENT_TOPIC],
  }
  const firstYoung = head.number - YOUNG_BLOCKS + 1n
  const splitAt = from > firstYoung ? from : firstYoung
  const young = await blocksUpTo(node, splitAt, to)
  if (young === undefined) return undefined
  const lastOld = to.number < splitAt ? to.number : splitAt - 1n
  const logs = await Promise.all([
    getLogsOfRange(node, filter, from, lastOld),
    getLogsOfBlocks(
      node,
      filter,
      young.map(({ hash }) => hash),
    ),
  ])
  return logs.flat()
}

/** The blocks from number `from` to `to`, each the parent of the next; undefined when they are not. */
async function blocksUpTo(
  node: EventContext['node'],
  from: bigint,
  to: Head,
): Promise<readonly Head[] | undefined> {
  if (to.number < from) return []
  const numbers = Array.from({ length: Number(to.number - from) }, (_, i) => from + BigInt(i))
  const answers = numbers.length === 0 ? [] : await node.batch(numbers.map(headRequest))
  const blocks: Head[] = []
  for (const answer of answers) {
    if (!answer.ok) throw answer.error
    const block = decodeHead(answer.result)
    if (block === undefined) return undefined
    blocks.push(block)
  }
  blocks.push(to)
  const isChain = blocks.every(({ parentHash }, i) => i === 0 || parentHash === blocks[i - 1]?.hash)
  return isChain ? blocks : undefined
}

/** Expired reservations that one step of the index asks the chain about; the next step takes the others. */
const MAX_LOOKS = 500

/** Those of them whose events one step searches. A nonce costs little to use up without an operation: `incrementNonce`. */
const MAX_SEARCHES = 20

/** Seconds by which the clock of the database may be ahead of the chain's. */
const CLOCK_TOLERANCE = 900

/** Expired reservations and the events of operations that took their nonces, if such were found. */
type Looked = { readonly ids: readonly bigint[]; readonly events: readonly Log[] }

export const noneLooked: Looked = { ids: [], events: [] }

/**
 * Asks the chain once more, before the expired reservations up to block `final` are released at no
 * cost, whether an operation took their nonces: an answer to the index may have lacked an event.
 * Only of a sender whose nonce was used the events are read, back to the time of the reservation.
 * @throws when the node does not give the nonces at `head`
 */
export async function lookForExpired(
  context: Pick<BundlingContext, 'database' | 'node' | 'definition'>,
  final: bigint,
  head: Head,
): Promise<Looked> {
  const { database, node, definition } = context
  const expired = await expiredReservations(database, definition.chainId, final, MAX_LOOKS)
  if (expired.length === 0) return noneLooked
  const next = await readNonces(node, expired, head.number)
  const used = expired.filter(({ nonce }, i) => (next[i] ?? 0n) > nonce)
  const later = new Set(used.splice(MAX_SEARCHES))
  const events: Log[] = []
  for (const reservation of used) {
    const event = await searchEvent(context, reservation)
    if (event !== undefined) events.push(event)
  }
  return { ids: expired.filter((each) => !later.has(each)).map(({ id }) => id), events }
}

/** The event of the operation that took a reservation's nonce; undefined when something else used it up. */
async function searchEvent(
  { node, definition }: Pick<BundlingContext, 'node' | 'definition'>,
  { entryPoint, sender, nonce, createdAt, blockNumber }: ExpiredReservation,
): Promise<Log | undefined> {
  const senderTopic = encodeAbiParameters([{ type: 'address' }], [sender])
  const topics = [USER_OPERATION_EVENT_TOPIC, null, senderTopic]
  const nonceWord = encodeAbiParameters([{ type: 'uint256' }], [nonce])
  const oldest = createdAt.getTime() / 1000 - CLOCK_TOLERANCE
  const range = BigInt(definition.logRange)
  for (let toBlock = blockNumber; toBlock >= 0n; toBlock -= range) {
    const fromBlock = toBlock >= range ? toBlock - range + 1n : 0n
    const [events, first] = await Promise.all([
      getLogsOfRange(node, { address: entryPoint, topics }, fromBlock, toBlock),
      getBlock(node, fromBlock),
    ])
    const event = events.find(({ data }) => data.startsWith(nonceWord))
    if (event !== undefined || first === undefined || first.timestamp < oldest) return event
  }
  return undefined
}

/** The contradiction of a node, or of several behind one address, that has an event without receipt. */
export function noReceipt(transactionHash: Hex): string {
  return `no receipt of ${transactionHash}, which has logs`
}

export type FoundInclusion = {
  readonly entryPoint: EntryPoint
  readonly outcome: OperationOutcome
  readonly receipt: TransactionReceipt
}

/**
 * The inclusion of an operation that our index does not hold: one eth_getLogs over the last `logRange`
 * blocks up to `head`, over fewer where the node refuses so many. Undefined when there is none.
 * @throws NodeUnavailableError when the node has the event but not its receipt: "not included" would be
 * wrong
 */
export async function searchInclusion(
  { definition, entryPoints, node }: Pick<BundlingContext, 'definition' | 'entryPoints' | 'node'>,
  hash: Hex,
  head: bigint,
): Promise<FoundInclusion | undefined> {
  const address = entryPoints.map((entryPoint) => entryPoint.address)
  const filter = { address, topics: [USER_OPERATION_EVENT_TOPIC, hash] }
  const [event] = await getNewestLogs(node, filter, head, BigInt(definition.logRange))
  const entryPoint = entryPoints.find(({ address }) => address === event?.address)
  if (!event || !entryPoint) return undefined
  const receipt = await getTransactionReceipt(node, event.transactionHash)
  if (!receipt) {
    throw new NodeUnavailableError(noReceipt(event.transactionHash))
  }
  const outcome = entryPoint
    .decodeOutcomes(receipt.logs)
    .find(({ userOpHash }) => userOpHash === hash)
  return outcome && { entryPoint, outcome, receipt }
}
