import type { HeadFollower } from '../../chain/headFollower.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { splitValidationData } from '../../entrypoint/validationData.js'
import { toHex } from '../../evm/index.js'
import type { Engine } from '../engine.js'
import { observeRun } from '../inProcess/observeRun.js'
import { readValidation, refusal, timeRangeOf } from '../inProcess/readSimulation.js'
import { aggregated } from '../refusals.js'
import { runTrace, type TracedOperation, type TracedRun, type TracingNode } from './runTrace.js'

export type TraceEngineContext = TracingNode & { readonly heads: Pick<HeadFollower, 'refresh'> }

/**
 * Validates operations of any EntryPoint version on the node, by one debug_traceCall of handleOps, and
 * tells the same facts as our EVM, so that every rule can be judged. The EntryPoint is not deceived
 * there: a wrong signature is its refusal (AA24, AA34). An operation out of its time is traced once more
 * in a block of that time. All of it on the newest block.
 */
export function createTraceEngine(context: TraceEngineContext): Pick<Engine, 'validate'> {
  return {
    async validate(entryPoint, op, override = {}) {
      const asked: TracedOperation = { ...context, entryPoint, op, override }
      let run = await runTrace(asked, await context.heads.refresh())
      const { authorizer } = splitValidationData(run.observed.accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const time = dueTime(entryPoint, run)
      if (time !== undefined) run = await runTrace(asked, run.head, time)
      const { observed, state, output, record, fork, head } = run
      if (observed.validated === undefined) {
        const failure = refusal(entryPoint, op, { result: { output }, stage: { state } })
        return { ok: false, failure }
      }
      const validation = {
        ...readValidation(observed, observed.validated, op),
        observed: observeRun(entryPoint, op, { record, state, fork, blockHash: head.hash }),
      }
      return { ok: true, validation }
    },
  }
}

/**
 * A time (Unix seconds) at which an operation that is out of its time would be in it; undefined when it
 * ended otherwise, or no time will do.
 */
function dueTime(entryPoint: EntryPoint, { observed, output }: TracedRun): number | undefined {
  if (observed.validated !== undefined) return undefined
  const code = entryPoint.decodeFailure(toHex(output))?.code
  if (code !== 'AA22' && code !== 'AA32') return undefined
  const { validAfter, validUntil } = timeRangeOf(observed)
  if (validUntil === 0) return validAfter + 1
  return validAfter < validUntil ? validUntil : undefined
}
