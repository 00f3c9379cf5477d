import type { HeadFollower } from '../../chain/headFollower.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { splitValidationData } from '../../erc4337/validationData.js'
import { toHex } from '../../evm/index.js'
import type { StateOverride, ValidationResult } from '../engine.js'
import { observeRecord } from '../inProcess/observeRecord.js'
import { refusal, validationOf, validityOf } from '../inProcess/simulatedOperation.js'
import { aggregated } from '../operationFailure.js'
import { stateBefore } from '../stateBefore.js'
import type { PretendedBlock } from '../tracer.js'
import {
  type TracedOperation,
  type TraceResult,
  type TracingNode,
  traceOperation,
} from './traceOperation.js'

/** A node that traces, and its newest block. */
export type Tracing = TracingNode & { readonly heads: Pick<HeadFollower, 'refresh'> }

/**
 * Validates an operation of any EntryPoint version by one debug_traceCall of handleOps on the newest block. It gives the
 * same facts as our EVM, so that every rule can be checked.
 * A wrong signature cannot be hidden from the EntryPoint there: it is a refusal (AA24, AA34). An operation
 * outside its validity is traced once more in a block within it.
 */
export async function validateByTrace(
  context: Tracing,
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride = {},
): Promise<ValidationResult> {
  const traced: TracedOperation = { ...context, entryPoint, op, override }
  let trace = await traceOperation(traced, await context.heads.refresh())
  const { authorizer } = splitValidationData(trace.observed.accountData ?? 0n)
  if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
  const pretended = dueBlock(entryPoint, trace)
  if (pretended) trace = await traceOperation(traced, trace.head, pretended)
  const { observed, known, state, output, record, fork, head } = trace
  if (observed.validated === undefined) {
    const failure = refusal(entryPoint, op, output, state)
    return { ok: false, failure }
  }
  const validation = {
    ...validationOf(entryPoint, observed, observed.validated, op),
    before: stateBefore(known, entryPoint, op),
    observed: observeRecord(entryPoint, op, { record, state, fork, blockHash: head.hash }),
  }
  return { ok: true, validation }
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
