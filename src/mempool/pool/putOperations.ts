import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, TransactionExecutor } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { inTransaction } from '../../db/inTransaction.js'
import { toJson } from '../../db/json.js'
import type { Schema } from '../../db/schema.generated.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import { forgetBounds, lockPool } from './bounds.js'
import type { FirstValidation } from './operations.js'

/** The state of an operation when a transaction of admissions ends. */
export type DisplacedState = {
  readonly state: 'pooled' | 'replaced' | 'dropped'
  readonly code?: DropCode
  readonly reason?: string
}

/** Stores the new states of operations that were pooled and give way. */
export async function displaceOperations(
  trx: TransactionExecutor,
  chainId: number,
  displaced: ReadonlyMap<Hex, DisplacedState>,
): Promise<void> {
  if (displaced.size === 0) return
  const list = [...displaced].map(([hash, outcome]) => ({ hash, ...outcome }))
  await sql`update operations o set state = d.state, reason_code = d.code, reason = d.reason,
      updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(list)}::jsonb)
      as d(hash text, state text, code text, reason text)
    where o.chain_id = ${chainId} and o.hash = d.hash and o.state = 'pooled'`.execute(trx)
}

/** An operation to store: a column that it gives is a member here and a row of `columns`. */
export type NewOperation = {
  readonly chainId: number
  readonly hash: Hex
  readonly entryPoint: Address
  readonly appId: string
  /** The key that sent it; absent where none did. */
  readonly keyId?: string | undefined
  readonly operation: Operation
  /** Fees per gas that are paid for it; absent = its own fees. */
  readonly bid?: Fees
  /** wei */
  readonly prefund: bigint
  /** wei per gas: the highest price that is sure to be paid for all its gas */
  readonly assuredPrice: bigint
  /** Unix seconds; 0 = no end. */
  readonly validUntil: number
  /** Its last block; 0 = no end. */
  readonly validUntilBlock: bigint
  /** Undefined where the sender exists. */
  readonly factory: Address | undefined
  /** Entities whose reputation counts this operation. */
  readonly counted: readonly Address[]
  readonly seenBlock: bigint
  /** EntryPoint.mostCharged, in gas. */
  readonly mostCharged: bigint | undefined
  /** The number of operations that its preVerificationGas shares a bundle with, itself included. */
  readonly sharedBy: number
  readonly firstValidation: FirstValidation | undefined
}

/** The fees that are paid for an operation: those that we grant it, else its own. */
export function bidOf({ bid, operation }: Pick<NewOperation, 'bid' | 'operation'>): Fees {
  return bid ?? operation
}

/** An operation to store, and its state when the transaction ends. */
type PutOperation = { readonly entry: NewOperation; readonly standing: DisplacedState }

type Column = {
  /** PostgreSQL type of the value in JSON. */
  readonly type: string
  readonly value: (put: PutOperation) => unknown
  /** Does an operation that comes back take the new value? */
  readonly isRenewed?: true
}

/** Columns that a new operation does not give: the chain is a parameter, the others have defaults. */
type OtherColumn =
  | 'chain_id'
  | 'attempts'
  | 'bundle_id'
  | 'cancel_requested_at'
  | 'received_at'
  | 'updated_at'

/** The columns that a new operation gives; `putOperations` builds its statement from them. */
const columns: Readonly<Record<Exclude<keyof Schema['operations'], OtherColumn>, Column>> = {
  hash: { type: 'text', value: ({ entry }) => entry.hash },
  entry_point: { type: 'text', value: ({ entry }) => entry.entryPoint },
  app_id: { type: 'uuid', value: ({ entry }) => entry.appId, isRenewed: true },
  key_id: { type: 'uuid', value: ({ entry }) => entry.keyId, isRenewed: true },
  sender: { type: 'text', value: ({ entry }) => entry.operation.sender },
  nonce: { type: 'numeric', value: ({ entry }) => String(entry.operation.nonce) },
  paymaster: { type: 'text', value: ({ entry }) => entry.operation.paymaster },
  max_fee_per_gas: {
    type: 'numeric',
    value: ({ entry }) => String(bidOf(entry).maxFeePerGas),
    isRenewed: true,
  },
  max_priority_fee_per_gas: {
    type: 'numeric',
    value: ({ entry }) => String(bidOf(entry).maxPriorityFeePerGas),
    isRenewed: true,
  },
  prefund: { type: 'numeric', value: ({ entry }) => String(entry.prefund) },
  assured_price: {
    type: 'numeric',
    value: ({ entry }) => String(entry.assuredPrice),
    isRenewed: true,
  },
  valid_until: { type: 'bigint', value: ({ entry }) => entry.validUntil, isRenewed: true },
  valid_until_block: {
    type: 'bigint',
    value: ({ entry }) => String(entry.validUntilBlock),
    isRenewed: true,
  },
  operation: { type: 'jsonb', value: ({ entry }) => jsonOf(entry.operation), isRenewed: true },
  state: { type: 'text', value: ({ standing }) => standing.state, isRenewed: true },
  reason_code: { type: 'text', value: ({ standing }) => standing.code, isRenewed: true },
  reason: { type: 'text', value: ({ standing }) => standing.reason, isRenewed: true },
  factory: { type: 'text', value: ({ entry }) => entry.factory, isRenewed: true },
  counted: { type: 'text[]', value: ({ entry }) => entry.counted, isRenewed: true },
  seen_block: { type: 'bigint', value: ({ entry }) => String(entry.seenBlock), isRenewed: true },
  most_charged: {
    type: 'numeric',
    value: ({ entry }) => entry.mostCharged?.toString(),
    isRenewed: true,
  },
  shared_by: { type: 'smallint', value: ({ entry }) => entry.sharedBy, isRenewed: true },
  first_validation: {
    type: 'jsonb',
    value: ({ entry }) => entry.firstValidation && jsonOf(entry.firstValidation),
    isRenewed: true,
  },
}

function jsonOf(value: object): unknown {
  return JSON.parse(toJson(value))
}

const columnList = Object.entries(columns)
const columnNames = sql.raw(columnList.map(([name]) => name).join(', '))
const columnTypes = sql.raw(columnList.map(([name, { type }]) => `${name} ${type}`).join(', '))
const renewedColumns = sql.raw(
  columnList
    .filter(([, { isRenewed }]) => isRenewed)
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', '),
)

/**
 * Stores new operations in their states, and the bounds of what is live now, in one statement.
 * An operation that was dropped or replaced before comes back, but keeps the count of bundles that
 * failed with it.
 */
export async function putOperations(
  trx: TransactionExecutor,
  chainId: number,
  puts: readonly PutOperation[],
  bounds: ReadonlyMap<string, bigint>,
): Promise<void> {
  if (puts.length === 0) return
  const rows = puts.map((put) =>
    Object.fromEntries(columnList.map(([name, { value }]) => [name, value(put)])),
  )
  const limits = [...bounds].map(([scope, bound]) => ({ scope, bound: String(bound) }))
  await sql`with bounds as (
      insert into pool_bounds (chain_id, scope, bound)
      select ${chainId}, scope, bound
      from jsonb_to_recordset(${JSON.stringify(limits)}::jsonb) as b(scope text, bound numeric)
      on conflict (chain_id, scope) do update set bound = excluded.bound
    )
    insert into operations (chain_id, ${columnNames})
    select ${chainId}, ${columnNames}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(${columnTypes})
    on conflict (chain_id, hash) do update set ${renewedColumns}, bundle_id = null,
      cancel_requested_at = null, received_at = now(), updated_at = now()
      where operations.state in ('dropped', 'replaced')`.execute(trx)
}

/** A new operation of which only its app and its own members are known. */
type UncheckedOperation = Pick<
  NewOperation,
  'hash' | 'entryPoint' | 'appId' | 'operation' | 'prefund' | 'assuredPrice' | 'seenBlock'
>

/**
 * Takes operations into the pool that nobody has validated, for tests of a bundler from outside: no
 * limit applies to them, no reputation counts them, and they do not expire.
 */
export async function putUnchecked(
  db: Database,
  chainId: number,
  operations: readonly UncheckedOperation[],
): Promise<void> {
  if (operations.length === 0) return
  const puts = operations.map((operation) => ({
    entry: {
      ...operation,
      chainId,
      validUntil: 0,
      validUntilBlock: 0n,
      factory: operation.operation.factory,
      counted: [],
      mostCharged: undefined,
      sharedBy: 1,
      firstValidation: undefined,
    },
    standing: { state: 'pooled' } as const,
  }))
  await inTransaction(db, async (trx) => {
    await lockPool(trx, chainId)
    await putOperations(trx, chainId, puts, new Map())
    await forgetBounds(trx, chainId)
  })
}
