import { type Expression, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { faultPoint } from '../../base/faults.js'
import type { Database, Transaction, TransactionExecutor } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { emitOperationEvents } from '../../db/events.js'
import type { Schema } from '../../db/schema.generated.js'
import { claimOperations, type Drop, isIn } from '../../mempool/pool/operations.js'
import { dropSuccessors } from '../../mempool/pool/successors.js'
import { type BundleKind, type NewAttempt, rememberRaw } from './bundles.js'
import { claimSurpluses, releaseSurpluses } from './surpluses.js'

type BundleState = Schema['bundles']['state']

type NewBundle = {
  readonly chainId: number
  readonly kind: BundleKind
  /** null when it carries no operations. */
  readonly entryPoint: Address | null
  readonly executor: Address
  readonly nonce: bigint
  /** The tank or executor that gets wei by it; undefined = there is none. */
  readonly gift?: { readonly recipient: Address; readonly value: bigint } | undefined
  /** The head at which it is given to a relay; undefined = it is sent publicly. */
  readonly relayedFrom?: bigint | undefined
}

/**
 * Stores a signed bundle and takes its operations out of the pool, in one transaction, before the
 * bundle is sent. Returns its id; undefined, with nothing changed, when one of the operations was
 * replaced or dropped meanwhile. A bundle of kind `return` has the transactions instead whose surplus it returns.
 */
export async function storeBundle(
  database: Database,
  bundle: NewBundle,
  attempt: NewAttempt,
  hashes: readonly Hex[],
): Promise<bigint | undefined> {
  const { chainId, kind, entryPoint, executor, nonce, gift, relayedFrom = null } = bundle
  const operations = kind === 'operations' ? hashes : []
  const claim = kind === 'return' ? claimSurpluses : claimOperations
  const id = sql<bigint>`(select id from bundle)`
  rememberRaw(attempt)
  try {
    return await database.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: bigint; claimed: bigint }>`with bundle as (
          insert into bundles (chain_id, kind, entry_point, executor, nonce, operations, state,
            recipient, value, relayed_from)
          values (${chainId}, ${kind}, ${entryPoint}, ${executor}, ${nonce}, ${operations}, 'signed',
            ${gift?.recipient ?? null}, ${gift?.value ?? 0n}, ${relayedFrom})
          returning id
        ), attempt as (${insertAttempt(chainId, id, attempt)}),
        claimed as (${claim(chainId, hashes, id)})
        select id, (select count(*) from claimed) as claimed from bundle`.execute(trx)
      const [stored] = rows
      if (stored === undefined || stored.claimed < hashes.length) throw new Superseded()
      faultPoint('bundle:claimed')
      return stored.id
    })
  } catch (error) {
    if (error instanceof Superseded) return undefined
    throw error
  }
}

/** Stores a further transaction for the nonce of an open bundle, before it is sent. False when it is settled meanwhile. */
export function storeAttempt(
  database: Database,
  chainId: number,
  bundleId: bigint,
  attempt: NewAttempt,
): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    if (!(await holdOpen(trx, bundleId))) return false
    rememberRaw(attempt)
    await insertAttempt(chainId, sql<bigint>`${bundleId}::bigint`, attempt).execute(trx)
    return true
  })
}

/** Is the bundle still open? Then nobody settles it before the transaction ends. */
async function holdOpen(trx: Transaction, bundleId: bigint): Promise<boolean> {
  const row = await trx
    .selectFrom('bundles')
    .select('id')
    .where('id', '=', bundleId)
    .where('state', '=', 'signed')
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Notes, before it happens, that a bundle which a relay has is sent publicly from now on. */
export async function publishBundle(database: Database, bundleId: bigint): Promise<void> {
  await database
    .updateTable('bundles')
    .set({ relayed_from: null, updated_at: sql<Date>`now()` })
    .where('id', '=', bundleId)
    .execute()
}

/** Ends a bundle that cannot be included any more, unless it is settled meanwhile; its operations return to the pool. */
export function abandonBundle(database: Database, bundleId: bigint): Promise<readonly Hex[]> {
  return database.transaction().execute(async (trx) => {
    if (!(await holdOpen(trx, bundleId))) return []
    await closeBundles(trx, [{ id: bundleId, state: 'abandoned' }])
    return releaseOperations(trx, bundleId)
  })
}

/** Ends a bundle that no block can take, unless it is settled meanwhile; that counts as a failure of its operations. */
export function refuseBundle(
  database: Database,
  bundleId: bigint,
  maxAttempts: number,
): Promise<readonly Hex[]> {
  return database.transaction().execute(async (trx) => {
    if (!(await holdOpen(trx, bundleId))) return []
    await closeBundles(trx, [{ id: bundleId, state: 'abandoned' }])
    return blameOperations(trx, [bundleId], maxAttempts)
  })
}

/** The end of an open bundle: the attempt that was mined, if one was, and its wei. */
type ClosedBundle = {
  readonly id: bigint
  readonly state: Exclude<BundleState, 'signed'>
  readonly transactionHash?: Hex
  readonly cost?: bigint
}

/** Ends open bundles. */
export async function closeBundles(
  trx: TransactionExecutor,
  closed: readonly ClosedBundle[],
): Promise<void> {
  if (closed.length === 0) return
  await sql`update bundles b set state = c.state, transaction_hash = c.hash, cost = c.cost,
      updated_at = now()
    from unnest(${closed.map(({ id }) => id)}::bigint[],
      ${closed.map(({ state }) => state)}::text[],
      ${closed.map(({ transactionHash }) => transactionHash ?? null)}::text[],
      ${closed.map(({ cost }) => cost ?? null)}::numeric[]) as c (id, state, hash, cost)
    where b.id = c.id`.execute(trx)
  const failed = closed.filter(({ state }) => state !== 'included').map(({ id }) => id)
  if (failed.length > 0) await releaseSurpluses(trx, failed)
}

/**
 * Returns the remaining operations of a bundle to the pool, when it ended through no fault of theirs;
 * cancelled ones are dropped.
 */
export function releaseOperations(trx: Transaction, bundleId: bigint): Promise<readonly Hex[]> {
  return takeOut(trx, [bundleId], sql<boolean>`false`, 0)
}

/**
 * Counts a failed attempt for the remaining operations of bundles and returns them to the pool. After
 * `maxAttempts` an operation is dropped, and keeps its last bundle as evidence.
 */
export function blameOperations(
  trx: TransactionExecutor,
  bundleIds: readonly bigint[],
  maxAttempts: number,
): Promise<readonly Hex[]> {
  return takeOut(trx, bundleIds, sql<boolean>`o.attempts + 1 >= ${maxAttempts}::int`, 1)
}

/**
 * Drops the one operation that made a bundle fail on the chain, which keeps the bundle as evidence, and
 * returns the others to the pool without blame. Returns the hashes of all of them.
 */
export async function dropCulprit(
  trx: Transaction,
  chainId: number,
  bundleId: bigint,
  { hash, code, reason }: Drop,
): Promise<readonly Hex[]> {
  const { rows } = await sql<{ hash: Hex }>`
    update operations set state = 'dropped', reason_code = ${code}, reason = ${reason},
      attempts = attempts + 1, updated_at = now()
    where chain_id = ${chainId} and hash = ${hash} and bundle_id = ${bundleId}
      and state = 'bundled'
    returning hash`.execute(trx)
  const dropped = rows.map((row) => row.hash)
  const successors = await dropSuccessors(trx, chainId, dropped)
  await emitOperationEvents(trx, chainId, [...dropped, ...successors])
  return [...dropped, ...(await releaseOperations(trx, bundleId))]
}

const CANCELLED_CODE: DropCode = 'CANCELLED'
const FAILED_CODE: DropCode = 'BUNDLE_FAILED'

/** Takes the operations that are still in these bundles out of them; returns their hashes. */
async function takeOut(
  trx: TransactionExecutor,
  bundleIds: readonly bigint[],
  isSpent: ReturnType<typeof sql<boolean>>,
  failures: 0 | 1,
): Promise<readonly Hex[]> {
  if (bundleIds.length === 0) return []
  const isCancelled = sql<boolean>`o.cancel_requested_at is not null`
  const { rows } = await sql<{ hash: Hex; chain_id: bigint; state: string }>`
    update operations o set
      state = case when ${isCancelled} or ${isSpent} then 'dropped' else 'pooled' end,
      reason_code = case when ${isCancelled} then ${CANCELLED_CODE}::text
        when ${isSpent} then ${FAILED_CODE}::text end,
      reason = case when ${isCancelled} then 'cancelled by the operator'
        when ${isSpent} then 'the bundles with this operation failed ' || (o.attempts + 1) || ' times'
        end,
      attempts = o.attempts + ${failures}::int,
      bundle_id = case when ${isSpent} then o.bundle_id end,
      updated_at = now()
    from bundles b where b.id = any(${bundleIds}::bigint[]) and ${isIn}
    returning o.hash, o.chain_id, o.state`.execute(trx)
  const dropped = rows.filter(({ state }) => state === 'dropped').map(({ hash }) => hash)
  const [first] = rows
  if (first) {
    const chainId = Number(first.chain_id)
    const successors = await dropSuccessors(trx, chainId, dropped)
    await emitOperationEvents(trx, chainId, [...dropped, ...successors])
  }
  return rows.map(({ hash }) => hash)
}

/**
 * The statement that stores a transaction of a bundle. The same operations at the same fees make the same bytes again
 * when the bundle that had them first was refused or abandoned: they are those of the newer bundle then.
 */
function insertAttempt(chainId: number, bundleId: Expression<bigint>, attempt: NewAttempt) {
  const { hash, raw, maxFeePerGas, maxPriorityFeePerGas, maxCost, noop } = attempt
  return sql`insert into bundle_transactions (chain_id, hash, bundle_id, raw, max_fee_per_gas,
      max_priority_fee_per_gas, max_cost, noop)
    values (${chainId}, ${hash}, ${bundleId}, ${raw}, ${maxFeePerGas}, ${maxPriorityFeePerGas}, ${maxCost}, ${noop})
    on conflict (chain_id, hash) do update set bundle_id = excluded.bundle_id, created_at = now()`
}

/** Thrown to roll the transaction back. */
class Superseded extends Error {}

/** Sizes of an operation's next bundle, by the number of its bundles that have failed. */
const retryGroupSizes = [Number.POSITIVE_INFINITY, 32, 4]

/**
 * The most operations in a bundle whose operations have had `attempts` bundles fail on the chain. A
 * failed bundle is separated in few steps, not at once: of 250 operations one of which fails, 8 bundles
 * of 32, then 8 of 4, then 4 single ones carry the others. The one that fails alone is the cause.
 */
export function retryGroupSize(attempts: number): number {
  return retryGroupSizes[attempts] ?? 1
}

/** The number of failed bundles with which an operation is dropped; it was alone in the last two. */
export const MAX_ATTEMPTS = retryGroupSizes.length + 2
