import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { checkOperation, checkOverride } from './check/checkOperation.js'
import { collectorSource } from './trace/collector.js'
import { isTrace } from './trace/tracedFrame.js'
import { traceRequest } from './trace/traceRequest.js'

/** The tracer that collects the facts for the rules on a node: geth's own, or our script. */
export type Tracer = 'native' | 'script'

/** The `tracer` parameter of debug_traceCall. */
export function tracerParameter(tracer: Tracer, { address, callLayout }: EntryPoint): string {
  return tracer === 'native' ? 'erc7562Tracer' : collectorSource(address, callLayout.innerHandleOp)
}

/**
 * The tracer that works on the node, tried by an operation that needs nothing but the EntryPoint; the
 * native one first, as it costs the node a fraction. Undefined where the node has none, or no debug
 * methods.
 */
export async function findTracer(
  node: NodeClient,
  entryPoint: EntryPoint,
): Promise<Tracer | undefined> {
  const tracers: readonly Tracer[] = ['native', 'script']
  const options = { block: 'latest', override: checkOverride, fork: 'shanghai' } as const
  const answers = await node.batch(
    tracers.map((tracer) => {
      const parameter = tracerParameter(tracer, entryPoint)
      return traceRequest(entryPoint, checkOperation, { ...options, tracer: parameter })
    }),
  )
  return tracers.find((_, at) => {
    const answer = answers[at]
    return answer?.ok === true && isTrace(answer.result) && (answer.result.calls ?? []).length > 0
  })
}
