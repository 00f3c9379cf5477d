import { type Selectable, sql } from 'kysely'
import type { Hex } from 'viem'
import { type Camel, snakeCased } from '../../db/camelCased.js'
import type { Database, TransactionExecutor } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { inTransaction } from '../../db/inTransaction.js'
import { toJson } from '../../db/json.js'
import type { Schema } from '../../db/schema.generated.js'
import { operationDocument } from '../../db/storedOperation.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import { forgetBounds, lockPool } from './bounds.js'
import type { FirstValidation, StoredOperation } from './operations.js'

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

type Columns = Selectable<Schema['operations']>

/** Columns that its fields, its standing or the table gives, or whose value has another type here. */
type OtherColumn =
  | 'chain_id'
  | 'operation'
  | 'sender'
  | 'nonce'
  | 'paymaster'
  | 'max_fee_per_gas'
  | 'max_priority_fee_per_gas'
  | 'valid_until'
  | 'first_validation'
  | 'state'
  | 'reason_code'
  | 'reason'
  | 'attempts'
  | 'bundle_id'
  | 'cancel_requested_at'
  | 'received_at'
  | 'updated_at'
  | 'ended_badly_at'
  | 'failed_at'

type Given<Value> = null extends Value
  ? Exclude<Value, null> | undefined
  : Value extends readonly (infer Item)[]
    ? readonly Item[]
    : Value

/** An operation to store. Every other column is a member, described in the schema; undefined = null. */
export type NewOperation = {
  readonly [Name in Exclude<keyof Columns, OtherColumn> as Camel<Name>]: Given<Columns[Name]>
} & {
  readonly chainId: number
  readonly operation: Operation
  /** Fees per gas that are paid for it; absent = its own fees. */
  readonly bid?: Fees
  /** Unix seconds; 0 = no end. */
  readonly validUntil: number
  readonly firstValidation: FirstValidation | undefined
}

/** The fees that are paid for an operation: those that we grant it, else its own. */
export function bidOf({ bid, operation }: Pick<NewOperation, 'bid' | 'operation'>): Fees {
  return bid ?? operation
}

/** An operation to store, and its state when the transaction ends. Columns that it lacks get the table's defaults. */
type PutOperation = {
  readonly entry: Pick<NewOperation, 'operation' | 'bid'> & Partial<NewOperation>
  readonly standing: DisplacedState
}

/** The columns that the hash of an operation covers: one that comes back has the same. */
const hashed = new Set(['hash', 'entry_point', 'sender', 'nonce', 'paymaster', 'prefund'])

/** The columns by the names of members, which are few. */
const columnNames = new Map<string, string>()

function columnOf(member: string): string {
  const known = columnNames.get(member)
  if (known !== undefined) return known
  const column = snakeCased(member)
  columnNames.set(member, column)
  return column
}

/**
 * The columns of a new operation that are no documents, as JSON has them: a member of `entry` is the column of its name.
 */
function columnsOf({ entry, standing }: PutOperation): Readonly<Record<string, unknown>> {
  const { chainId: _, bid: __, firstValidation: ___, operation, ...members } = entry
  const { maxFeePerGas, maxPriorityFeePerGas } = bidOf(entry)
  const columns: Record<string, unknown> = {
    sender: operation.sender,
    nonce: String(operation.nonce),
    paymaster: operation.paymaster,
    max_fee_per_gas: String(maxFeePerGas),
    max_priority_fee_per_gas: String(maxPriorityFeePerGas),
    state: standing.state,
    reason_code: standing.code,
    reason: standing.reason,
  }
  for (const [name, value] of Object.entries(members))
    columns[columnOf(name)] = typeof value === 'bigint' ? String(value) : value
  return columns
}

/** The row of a new operation as JSON. Its documents, which are most of it, are written once. */
function rowOf(put: PutOperation): string {
  const { operation, firstValidation = null } = put.entry
  const documents = `"operation":${operationDocument(operation)},"first_validation":${toJson(firstValidation)}`
  return `${JSON.stringify(columnsOf(put)).slice(0, -1)},${documents}}`
}

/**
 * Stores new operations in their states, and the bounds of what is live now, in one statement.
 * An operation that was dropped or replaced before comes back, but keeps the count of bundles that
 * failed with it. All have the same members. Returns the times of those that were stored, by their hash.
 */
export async function putOperations(
  trx: TransactionExecutor,
  chainId: number,
  puts: readonly PutOperation[],
  bounds: ReadonlyMap<string, bigint>,
): Promise<ReadonlyMap<Hex, Date>> {
  const [first] = puts
  if (first === undefined) return new Map()
  const names = [...Object.keys(columnsOf(first)), 'operation', 'first_validation']
  const columns = sql.raw(names.join(', '))
  const renewed = names.filter((name) => !hashed.has(name))
  const renewal = sql.raw(renewed.map((name) => `${name} = excluded.${name}`).join(', '))
  const limits = [...bounds].map(([scope, bound]) => ({ scope, bound: String(bound) }))
  const { rows } = await sql<{ readonly hash: Hex; readonly received_at: Date }>`with bounds as (
      insert into pool_bounds (chain_id, scope, bound)
      select ${chainId}, scope, bound
      from jsonb_to_recordset(${JSON.stringify(limits)}::jsonb) as b(scope text, bound numeric)
      on conflict (chain_id, scope) do update set bound = excluded.bound
    )
    insert into operations (chain_id, ${columns})
    select ${chainId}, ${columns}
    from jsonb_populate_recordset(null::operations, ${`[${puts.map(rowOf).join()}]`}::jsonb)
    on conflict (chain_id, hash) do update set ${renewal}, bundle_id = null,
      cancel_requested_at = null, received_at = now(), updated_at = now()
      where operations.state in ('dropped', 'replaced')
    returning hash, received_at`.execute(trx)
  return new Map(rows.map(({ hash, received_at }) => [hash, received_at]))
}

/** What `putOperations` stored of an operation that is pooled now and in no bundle that failed. */
export function pooledOperation(entry: NewOperation, receivedAt: Date): StoredOperation {
  const { hash, entryPoint, appId, operation, validUntil, validUntilBlock, factory } = entry
  const { seenBlock, mostCharged, sharedBy, firstValidation } = entry
  const { maxFeePerGas, maxPriorityFeePerGas } = bidOf(entry)
  return {
    hash,
    entryPoint,
    appId,
    operation,
    bid: { maxFeePerGas, maxPriorityFeePerGas },
    state: 'pooled',
    reasonCode: null,
    reason: null,
    attempts: 0,
    bundleId: null,
    receivedAt,
    validUntil,
    validUntilBlock,
    factory,
    seenBlock,
    mostCharged,
    sharedBy,
    firstValidation,
  }
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
  const puts = operations.map((entry) => ({
    entry: { ...entry, validUntil: 0, factory: entry.operation.factory },
    standing: { state: 'pooled' } as const,
  }))
  await inTransaction(db, async (trx) => {
    await lockPool(trx, chainId)
    await putOperations(trx, chainId, puts, new Map())
    await forgetBounds(trx, chainId)
  })
}
