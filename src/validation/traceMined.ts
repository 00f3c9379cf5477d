import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { FrameRecord } from '../evm/index.js'
import { toRecord } from './trace/toRecord.js'
import { isTrace } from './trace/tracedFrame.js'
import { type Tracer, tracerParameter } from './tracer.js'

/**
 * The frames of a mined transaction to the EntryPoint, by one debug_traceTransaction; delegates and
 * precompiles are not marked as such. Throws NodeRpcError when the node refuses to trace.
 */
export async function traceMined(
  node: NodeClient,
  tracer: Tracer,
  entryPoint: EntryPoint,
  transactionHash: Hex,
): Promise<FrameRecord> {
  const options = { tracer: tracerParameter(tracer, entryPoint) }
  const traced = await node.request('debug_traceTransaction', [transactionHash, options])
  if (!isTrace(traced)) throw new Error('the node answers no trace')
  return toRecord(traced, () => ({ precompile: false, delegate: undefined })).root
}
