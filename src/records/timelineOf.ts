import type { Address, Hex } from 'viem'
import { type HistoryCode, historyCodes } from '../base/errors/catalogue.js'
import { describeRevert } from '../erc4337/revertReason.js'
import { type Dictionary, nameData } from './contractAbi.js'
import type { OperationRecord } from './operationRecord.js'

/** Something that happened to an operation. Wei and gas are bigints, fees are wei per gas. */
type TimelineEntry = { readonly at: Date } & (
  | {
      readonly kind: 'sponsored' | 'refused'
      readonly decisionId: string
      readonly code: string
      readonly message: string
    }
  | {
      readonly kind: 'received'
      /** The key that sent it last; null where none did. */
      readonly keyId: string | null
      readonly keyName: string | null
    }
  | { readonly kind: 'readmitted' | 'cancelAsked' }
  | {
      readonly kind: 'bundled'
      readonly bundleId: bigint
      readonly executor: Address
      readonly nonce: bigint
      /** Other operations in the same bundle. */
      readonly others: number
    }
  | {
      readonly kind: 'broadcast'
      readonly bundleId: bigint
      readonly transactionHash: Hex
      readonly maxFeePerGas: bigint
      /** Does nothing but use the nonce up, to take the bundle back. */
      readonly noop: boolean
    }
  | {
      /** It left its bundle: for no fault of its own, with a failure counted, or by a reorganisation. */
      readonly kind: 'returned' | 'suspected' | 'reorged'
      readonly bundleId: bigint | null
      readonly code: HistoryCode
      readonly message: string
    }
  | {
      readonly kind: 'dropped' | 'replaced'
      readonly code: string | null
      readonly message: string | null
    }
  | {
      readonly kind: 'included'
      readonly transactionHash: Hex
      readonly block: bigint
      readonly blockTime: Date
      readonly success: boolean
      readonly actualGasUsed: bigint
      readonly actualGasCost: bigint
      /** Why its call failed; null where it succeeded or gave no reason. */
      readonly revert: string | null
    }
)

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
