import { encodeAbiParameters } from 'viem/utils'
import { readNonces } from '../../chain/entryPointReads.js'
import type { Head } from '../../chain/head.js'
import { getBlock, getLogsOfRange } from '../../chain/nodeReads.js'
import type { Log } from '../../entrypoint/entryPoint.js'
import { type ExpiredReservation, expiredReservations } from '../../store/ledger/reservations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { USER_OPERATION_EVENT_TOPIC } from './readEvents.js'

/** Expired reservations that one step of the index asks the chain about; the next step takes the others. */
const MAX_LOOKS = 500

/** Seconds by which the clock of the database may be ahead of the chain's. */
const CLOCK_TOLERANCE = 900

/** Expired reservations and the events of operations that took their nonces, if such were found. */
export type Looked = { readonly ids: readonly bigint[]; readonly events: readonly Log[] }

/**
 * Asks the chain once more, before the expired reservations up to block `final` are released at no
 * cost, whether an operation took their nonces: an answer to the index may have lacked an event.
 * Only of a sender whose nonce was used the events are read, back to the time of the reservation.
 * @throws when the node cannot tell the nonces at `head`
 */
export async function lookForExpired(
  context: Pick<BundlingContext, 'database' | 'node' | 'definition'>,
  final: bigint,
  head: Head,
): Promise<Looked> {
  const { database, node, definition } = context
  const expired = await expiredReservations(database, definition.chainId, final, MAX_LOOKS)
  if (expired.length === 0) return { ids: [], events: [] }
  const next = await readNonces(node, expired, head.number)
  const used = expired.filter(({ nonce }, i) => (next[i] ?? 0n) > nonce)
  const events: Log[] = []
  for (const reservation of used) {
    const event = await searchEvent(context, reservation)
    if (event !== undefined) events.push(event)
  }
  return { ids: expired.map(({ id }) => id), events }
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
