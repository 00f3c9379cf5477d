import type { HeadFollower } from '../../chain/headFollower.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { splitValidationData } from '../../erc4337/validationData.js'
import { toHex } from '../../evm/index.js'
import type { Engine } from '../engine.js'
import { observeRecord } from '../inProcess/observeRecord.js'
import { refusal, validationOf, validityOf } from '../inProcess/simulatedOperation.js'
import { aggregated } from '../operationFailure.js'
import type { PretendedBlock } from '../tracer.js'
import {
  type TracedOperation,
  type TraceResult,
  type TracingNode,
  traceOperation,
} from './traceOperation.js'

type TraceEngineContext = TracingNode & { readonly heads: Pick<HeadFollower, 'refresh'> }

/**
 * An engine that validates operations of any EntryPoint version on the node, by one debug_traceCall of
 * handleOps on the newest block. It gives the same facts as our EVM, so that every rule can be checked.
 * A wrong signature cannot be hidden from the EntryPoint there: it is a refusal (AA24, AA34). An operation
 * outside its validity is traced once more in a block within it.
 */
export function createTraceEngine(context: TraceEngineContext): Pick<Engine, 'validate'> {
  return {
    async validate(entryPoint, op, override = {}) {
      const traced: TracedOperation = { ...context, entryPoint, op, override }
      let trace = await traceOperation(traced, await context.heads.refresh())
      const { authorizer } = splitValidationData(trace.observed.accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const pretended = dueBlock(entryPoint, trace)
      if (pretended) trace = await traceOperation(traced, trace.head, pretended)
      const { observed, state, output, record, fork, head } = trace
      if (observed.validated === undefined) {
        const failure = refusal(entryPoint, op, output, state)
        return { ok: false, failure }
      }
      const validation = {
        ...validationOf(entryPoint, observed, observed.validated, op),
        observed: observeRecord(entryPoint, op, { record, state, fork, blockHash: head.hash }),
      }
      return { ok: true, validation }
    },
  }
}

/**
 * A block within the validity of an operation that was refused for it; undefined when it ended otherwise,
 * or its range is empty.
 */
function dueBlock(
  entryPoint: EntryPoint,
  { observed, output }: TraceResult,
): PretendedBlock | undefined {
  if (observed.validated !== undefined) return undefined
  const code = entryPoint.decodeFailure(toHex(output))?.code
  if (code === undefined || !outOfRange.has(code)) return undefined
  const { validAfter, validUntil, blocks } = validityOf(entryPoint, observed)
  const isEmpty =
    (validUntil !== 0 && validAfter >= validUntil) ||
    (blocks.until !== 0n && blocks.after >= blocks.until)
  if (isEmpty) return undefined
  const time = validUntil === 0 ? validAfter + 1 : validUntil
  return {
    ...(validAfter === 0 && validUntil === 0 ? {} : { time }),
    ...(blocks.until === 0n ? {} : { number: blocks.until }),
  }
}

const outOfRange = new Set(['AA22', 'AA27', 'AA32', 'AA37'])
