import type { Hex } from 'viem'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getNewestLogs, getTransactionReceipt } from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { EntryPoint, OperationOutcome } from '../../entrypoint/entryPoint.js'
import type { BundlingContext } from '../bundlingContext.js'
import { USER_OPERATION_EVENT_TOPIC } from './readEvents.js'

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
