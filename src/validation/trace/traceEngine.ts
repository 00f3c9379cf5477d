import type { HeadFollower } from '../../chain/headFollower.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { splitValidationData } from '../../entrypoint/validationData.js'
import { toHex } from '../../evm/index.js'
import type { Engine } from '../engine.js'
import { observeRecord } from '../inProcess/observeRecord.js'
import { refusal, timeRangeOf, validationOf } from '../inProcess/simulatedOperation.js'
import { aggregated } from '../refusals.js'
import {
  type TracedOperation,
  type TraceResult,
  type TracingNode,
  traceOperation,
} from './traceOperation.js'

export type TraceEngineContext = TracingNode & { readonly heads: Pick<HeadFollower, 'refresh'> }

/**
 * An engine that validates operations of any EntryPoint version on the node, by one debug_traceCall of
 * handleOps on the newest block. It gives the same facts as our EVM, so that every rule can be checked.
 * A wrong signature cannot be hidden from the EntryPoint there: it is a refusal (AA24, AA34). An operation
 * outside its time range is traced once more in a block of a time within it.
 */
export function createTraceEngine(context: TraceEngineContext): Pick<Engine, 'validate'> {
  return {
    async validate(entryPoint, op, override = {}) {
      const traced: TracedOperation = { ...context, entryPoint, op, override }
      let trace = await traceOperation(traced, await context.heads.refresh())
      const { authorizer } = splitValidationData(trace.observed.accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const time = dueTime(entryPoint, trace)
      if (time !== undefined) trace = await traceOperation(traced, trace.head, time)
      const { observed, state, output, record, fork, head } = trace
      if (observed.validated === undefined) {
        const failure = refusal(entryPoint, op, { result: { output }, state })
        return { ok: false, failure }
      }
      const validation = {
        ...validationOf(observed, observed.validated, op),
        observed: observeRecord(entryPoint, op, { record, state, fork, blockHash: head.hash }),
      }
      return { ok: true, validation }
    },
  }
}

/**
 * A time (Unix seconds) within the range of an operation that was refused for its time; undefined when it
 * ended otherwise, or its range is empty.
 */
function dueTime(entryPoint: EntryPoint, { observed, output }: TraceResult): number | undefined {
  if (observed.validated !== undefined) return undefined
  const code = entryPoint.decodeFailure(toHex(output))?.code
  if (code !== 'AA22' && code !== 'AA32') return undefined
  const { validAfter, validUntil } = timeRangeOf(observed)
  if (validUntil === 0) return validAfter + 1
  return validAfter < validUntil ? validUntil : undefined
}
