import type { Hex } from 'viem'
import { z } from 'zod'
import { type HistoryCode, historyCodes } from '../base/errors/catalogue.js'
import { describeRevert } from '../erc4337/revertReason.js'
import { type AnswerOf, address, hash, id, time, wei } from '../tenants/schemas.js'
import { type Dictionary, nameData } from './contractAbi.js'
import type { OperationRecord } from './operationRecord.js'

const code = z.string()
const message = z.string()
const bundleId = z.string().nullable()

/** Something that happened to an operation. Fees are wei per gas. */
export const timelineEntry = z.discriminatedUnion('kind', [
  z.object({ at: time, kind: z.enum(['sponsored', 'refused']), decisionId: id, code, message }),
  z.object({
    at: time,
    kind: z.literal('received'),
    /** The key that sent it last; null where none did. */
    keyId: id.nullable(),
    keyName: z.string().nullable(),
  }),
  z.object({ at: time, kind: z.enum(['readmitted', 'cancelAsked']) }),
  z.object({
    at: time,
    kind: z.literal('bundled'),
    bundleId,
    executor: address,
    nonce: z.string(),
    /** Other operations in the same bundle. */
    others: z.int(),
  }),
  z.object({
    at: time,
    kind: z.literal('broadcast'),
    bundleId,
    transactionHash: hash,
    maxFeePerGas: wei,
    /** Does nothing but use the nonce up, to take the bundle back. */
    noop: z.boolean(),
  }),
  /** It left its bundle: for no fault of its own, with a failure counted, or by a reorganisation. */
  z.object({
    at: time,
    kind: z.enum(['returned', 'suspected', 'reorged']),
    bundleId,
    code,
    message,
  }),
  z.object({
    at: time,
    kind: z.enum(['dropped', 'replaced']),
    code: code.nullable(),
    message: message.nullable(),
  }),
  z.object({
    at: time,
    kind: z.literal('included'),
    transactionHash: hash,
    block: z.string(),
    blockTime: time,
    success: z.boolean(),
    actualGasUsed: z.string(),
    actualGasCost: wei,
    /** Why its call failed; null where it succeeded or gave no reason. */
    revert: z.string().nullable(),
  }),
])

type TimelineEntry = AnswerOf<typeof timelineEntry>

/** What happened to an operation, the oldest first; `errors` are those of the app's contracts. */
export function timelineOf(
  record: OperationRecord,
  errors: Dictionary = new Map(),
): TimelineEntry[] {
  const { operation, bundles, transactions, decisions, history } = record
  const entries: TimelineEntry[] = [
    ...decisions.map(
      ({ id, sponsored, code, message, created_at }): TimelineEntry => ({
        at: created_at,
        kind: sponsored ? 'sponsored' : 'refused',
        decisionId: id,
        code,
        message,
      }),
    ),
    {
      at: operation.received_at,
      kind: 'received',
      keyId: operation.key_id,
      keyName: operation.key_name,
    },
    ...bundles.map(
      ({ id, executor, nonce, operation_count, created_at }): TimelineEntry => ({
        at: created_at,
        kind: 'bundled',
        bundleId: id,
        executor,
        nonce,
        others: operation_count - 1,
      }),
    ),
    ...transactions.map(
      ({ bundle_id, hash, max_fee_per_gas, noop, created_at }): TimelineEntry => ({
        at: created_at,
        kind: 'broadcast',
        bundleId: bundle_id,
        transactionHash: hash,
        maxFeePerGas: max_fee_per_gas,
        noop,
      }),
    ),
    ...history.map(pastEntry),
    // Of the same moment as the end that it brings.
    ...(operation.cancel_requested_at === null
      ? []
      : [{ at: operation.cancel_requested_at, kind: 'cancelAsked' } as const]),
    ...presentEntries(record, errors),
  ]
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Of what the row has forgotten. */
function pastEntry({
  at,
  kind,
  bundle_id,
  code,
  reason,
}: OperationRecord['history'][number]): TimelineEntry {
  if (kind === 'dropped' || kind === 'replaced') return { at, kind, code, message: reason }
  if (kind === 'readmitted') return { at, kind }
  const happened = mishaps[kind]
  return {
    at,
    kind,
    bundleId: bundle_id,
    code: happened,
    message: reason ?? historyCodes[happened].meaning,
  }
}

const mishaps = { returned: 'RETURNED', suspected: 'SUSPECTED', reorged: 'REORGED' } as const

/**
 * The code that explains the operation's state to a client: why it failed, or what delays it. Null where all is well. A reorganisation stays worth knowing after the operation was included again: the
 * first receipt may have been acted on.
 */
export function troubleOf({ operation, inclusion, history }: OperationRecord): string | null {
  if (inclusion?.success === false) return 'CALL_REVERTED' satisfies HistoryCode
  if (operation.reason_code !== null) return operation.reason_code
  const happened = history.flatMap(({ kind }) =>
    kind in mishaps ? [kind as keyof typeof mishaps] : [],
  )
  if (inclusion !== undefined) return happened.includes('reorged') ? mishaps.reorged : null
  const last = happened.at(-1)
  return last === undefined ? null : mishaps[last]
}

/** Of how it ended, if it has. */
function presentEntries(
  { operation, inclusion }: OperationRecord,
  errors: Dictionary,
): TimelineEntry[] {
  const { state, reason_code, reason, updated_at: at } = operation
  if (state === 'dropped' || state === 'replaced')
    return [{ at, kind: state, code: reason_code, message: reason }]
  if (inclusion === undefined) return []
  const { transaction_hash, block_number, block_time, success, actual_gas_used, actual_gas_cost } =
    inclusion
  return [
    {
      at,
      kind: 'included',
      transactionHash: transaction_hash,
      block: block_number,
      blockTime: block_time,
      success,
      actualGasUsed: actual_gas_used,
      actualGasCost: actual_gas_cost,
      revert: success ? null : revertText(inclusion.reason, errors),
    },
  ]
}

/** An error by the app's own ABI, else as any contract's. */
function revertText(reason: Hex, errors: Dictionary): string | null {
  const own = nameData(reason, errors)
  if (own === undefined) return describeRevert(reason) ?? null
  return `${own.name}(${own.args.map(({ value }) => value).join(', ')})`
}
