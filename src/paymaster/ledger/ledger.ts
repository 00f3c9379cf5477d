import { sql } from 'kysely'
import type { Transaction } from '../../db/database.js'
import { emitReservationEvents } from '../../db/events.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { Included } from '../../erc4337/entryPoint.js'
import { addToCounters, type CounterChange, counterName } from './budgetCounters.js'
import { addShares, lockPayersOf, sharesOf } from './payers.js'

/**
 * An inclusion and what it cost its sponsor, in wei; absent = what the EntryPoint charged. The rebate is what
 * the cost is below the charge, because the operation's bundle was larger than it paid for; absent = 0. `wasted` are the
 * wei of the cost that are for gas which limits left unused; absent = not known.
 */
export type SettledInclusion = Included & {
  readonly cost?: bigint
  readonly rebate?: bigint
  readonly wasted?: bigint | undefined
}

/** The block up to which inclusions are indexed. */
export type LedgerProgress = {
  readonly number: bigint
  /** Unix seconds */
  readonly timestamp: number
  /** No block up to here will be undone. */
  readonly final: bigint
  /** Expired reservations for which the chain was asked whether an operation took their nonces. */
  readonly looked: readonly bigint[]
}

/**
 * Brings the ledger in line with the inclusions that the index has read, in the index's transaction.
 * Repetition changes nothing:
 * - A reservation becomes included with whatever operation took its nonce. The cost of that operation
 *   is settled when it is one of the reservation's sponsorships, and 0 when it is not.
 * - An open reservation expires when a block is later than its validUntil.
 * - The amount that an ended reservation holds beyond its cost becomes free when its block is final.
 *   Until then a reorg can reopen it, at a higher price. An expired one is also kept until the chain was
 *   asked for its nonce.
 * At most one call per transaction, because it locks all reservations before any counter.
 */
export async function settleLedger(
  trx: Transaction,
  chainId: number,
  included: readonly SettledInclusion[],
  progress: LedgerProgress | undefined,
): Promise<void> {
  const { includedIds, endedIds } = await findChanging(trx, chainId, included, progress)
  const ids = await lockReservations(trx, [...new Set([...includedIds, ...endedIds])])
  if (ids.length === 0) return
  const lockedIds = new Set(ids)
  const isLocked = (id: bigint) => lockedIds.has(id)
  await rebook(trx, ids, async () => {
    await include(trx, chainId, includedIds.filter(isLocked), included)
    if (progress !== undefined) await endReservations(trx, endedIds.filter(isLocked), progress)
  })
  await emitReservationEvents(trx, ids)
}

/** Undoes the blocks above `fork`: a reservation that ended there is open again. */
export async function undoLedger(trx: Transaction, chainId: number, fork: bigint): Promise<void> {
  const undone = sql`state in ('included', 'expired') and block_number > ${fork}`
  const { rows } = await sql<{ id: bigint }>`select id from reservations
    where chain_id = ${chainId} and ${undone}`.execute(trx)
  const ids = await lockReservations(
    trx,
    rows.map(({ id }) => id),
  )
  if (ids.length === 0) return
  await rebook(trx, ids, async () => {
    await sql`update charges set settled = 0 where reservation_id = any(${ids}::bigint[])`.execute(
      trx,
    )
    await sql`update reservations set state = 'open', block_number = null, user_op_hash = null,
      actual_cost = 0, rebate = 0, wasted = null, updated_at = now()
      where id = any(${ids}::bigint[]) and ${undone}`.execute(trx)
  })
}

/**
 * Locks the payers of these reservations, and then the reservations that can still change; returns
 * the latter. A reservation that another transaction makes meanwhile is not among them: it comes
 * after the blocks that are settled here.
 */
async function lockReservations(trx: Transaction, ids: readonly bigint[]): Promise<bigint[]> {
  if (ids.length === 0) return []
  await lockPayersOf(trx, ids)
  const { rows } = await sql<{ id: bigint }>`select id from reservations
    where id = any(${ids}::bigint[]) and state <> 'settled'
    order by id for no key update`.execute(trx)
  return rows.map(({ id }) => id)
}

/**
 * Reservations that these inclusions end: those of the same sender and nonce, and those of the
 * included sponsorship itself, however old. An inclusion can be found late, when its block is final
 * and its reservation released. Settled reservations are final. And open reservations that have expired, and ended ones
 * that can become final.
 */
async function findChanging(
  trx: Transaction,
  chainId: number,
  included: readonly SettledInclusion[],
  progress: LedgerProgress | undefined,
): Promise<{ readonly includedIds: readonly bigint[]; readonly endedIds: readonly bigint[] }> {
  const parts = [
    ...(included.length > 0 ? [endingWith(chainId, included)] : []),
    ...(progress ? [endingBy(chainId, progress)] : []),
  ]
  if (parts.length === 0) return { includedIds: [], endedIds: [] }
  const { rows } = await sql<{ id: bigint; included: boolean }>`${sql.join(
    parts,
    sql` union all `,
  )}`.execute(trx)
  const idsOf = (isIncluded: boolean) =>
    rows.filter((row) => row.included === isIncluded).map(({ id }) => id)
  return { includedIds: idsOf(true), endedIds: idsOf(false) }
}

function endingWith(chainId: number, included: readonly SettledInclusion[]) {
  return sql`select id, true as included from reservations
    where state <> 'settled' and id in (
      select r.id from reservations r join ${rowsOf(included)}
        on (r.entry_point, r.sender, r.nonce) = (e.entry_point, e.sender, e.nonce)
        where r.chain_id = ${chainId} and r.state in ('open', 'included', 'expired')
      union
      select d.reservation_id from decisions d join ${rowsOf(included)} on d.user_op_hash = e.hash
        where d.chain_id = ${chainId} and d.reservation_id is not null)`
}

function endingBy(chainId: number, { timestamp, final, looked }: LedgerProgress) {
  return sql`select id, false as included from reservations
      where chain_id = ${chainId} and state = 'open' and valid_until < ${timestamp}
    union all
    select id, false from reservations where chain_id = ${chainId} and block_number <= ${final}
      and (state = 'included' or (state = 'expired' and id = any(${looked}::bigint[])))`
}

/** The inclusions as table `e` of a statement. */
function rowsOf(included: readonly SettledInclusion[]) {
  return sql`unnest(
    ${included.map(({ entryPoint }) => entryPoint)}::text[],
    ${included.map(({ outcome }) => outcome.sender)}::text[],
    ${included.map(({ outcome }) => outcome.nonce)}::numeric[],
    ${included.map(({ outcome }) => outcome.userOpHash)}::text[],
    ${included.map(({ outcome }) => outcome.paymaster)}::text[],
    ${included.map(({ outcome, cost = outcome.actualGasCost }) => cost)}::numeric[],
    ${included.map(({ rebate = 0n }) => rebate)}::numeric[],
    ${included.map(({ wasted = null }) => wasted)}::numeric[],
    ${included.map(({ outcome }) => outcome.event.blockNumber)}::bigint[]
  ) as e (entry_point, sender, nonce, hash, paymaster, cost, rebate, wasted, block_number)`
}

/** The reservation's sponsorship, or another form of one, is what inclusion `e` is. */
const isSponsorship = sql`exists (select from decisions s
  where s.reservation_id = r.id and s.user_op_hash = e.hash)`
const isOtherForm = sql`(r.paymaster = e.paymaster and r.paymaster <> ${zeroAddress}
  and not exists (select from decisions k
    where k.chain_id = r.chain_id and k.user_op_hash = e.hash))`
const isOfSlot = sql`(r.entry_point, r.sender, r.nonce) = (e.entry_point, e.sender, e.nonce)`

/**
 * Ends reservations by the inclusions that took their nonces, and settles their charges. An inclusion
 * costs what the chain says, to the one reservation that pays for it (`findPaying`). Of that reservation
 * the included sponsorship is charged; under a hash of no sponsorship all are, because any of them may
 * have been given the other form.
 */
async function include(
  trx: Transaction,
  chainId: number,
  ids: readonly bigint[],
  included: readonly SettledInclusion[],
): Promise<void> {
  if (ids.length === 0) return
  const paying = await findPaying(trx, chainId, ids, included)
  const pays = sql`r.id = any(${paying}::bigint[])`
  await sql`update reservations r set block_number = e.block_number, user_op_hash = e.hash,
      state = case state when 'released' then 'settled' else 'included' end, updated_at = now(),
      actual_cost = case when ${pays} then e.cost else 0 end,
      rebate = case when ${pays} then e.rebate else 0 end,
      wasted = case when ${pays} then e.wasted end
    from ${rowsOf(included)}
    where r.id = any(${ids}::bigint[]) and ${isOfSlot}`.execute(trx)
  await sql`update charges c set settled = case
      when not ${pays} then 0
      when d.user_op_hash is distinct from e.hash and not ${isOtherForm} then 0
      when c.unit = 'count' then 1
      when c.unit = 'wei' then r.actual_cost
      else div(r.actual_cost * c.price + 999999999999999999, 1000000000000000000) end
    from reservations r join ${rowsOf(included)} on ${isOfSlot}, decisions d
    where c.reservation_id = any(${ids}::bigint[]) and r.id = c.reservation_id
      and d.id = c.decision_id`.execute(trx)
}

/**
 * The reservations that pay for these inclusions, one for each at most: the tank paid once, also where
 * several apps that share it have sponsored the operation. It is the one that was charged already, else
 * the largest and of these the oldest, which covers what the tank could be charged.
 */
async function findPaying(
  trx: Transaction,
  chainId: number,
  ids: readonly bigint[],
  included: readonly SettledInclusion[],
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select distinct on (e.entry_point, e.sender, e.nonce) r.id
    from reservations r join ${rowsOf(included)} on ${isOfSlot}
    where r.chain_id = ${chainId} and (${isSponsorship} or ${isOtherForm})
      and (r.id = any(${ids}::bigint[]) or (r.state = 'settled' and r.actual_cost > 0))
    order by e.entry_point, e.sender, e.nonce, (r.state = 'settled') desc, r.max_cost desc, r.id`.execute(
    trx,
  )
  return rows.map(({ id }) => id)
}

/** Expires reservations, and makes those final whose block is. */
async function endReservations(
  trx: Transaction,
  ids: readonly bigint[],
  { number, timestamp, final, looked }: LedgerProgress,
): Promise<void> {
  if (ids.length === 0) return
  const isOneOfThem = sql`id = any(${ids}::bigint[])`
  await sql`update reservations set state = 'expired', block_number = ${number}, updated_at = now()
    where ${isOneOfThem} and state = 'open' and valid_until < ${timestamp}`.execute(trx)
  await sql`update reservations set updated_at = now(),
      state = case state when 'included' then 'settled' else 'released' end
    where ${isOneOfThem} and block_number <= ${final}
      and (state = 'included' or (state = 'expired' and id = any(${looked}::bigint[])))`.execute(
    trx,
  )
}

/**
 * Makes a change to locked reservations, and adds the differences to the amounts that their payers'
 * reservations lock and to the counters of their budgets.
 */
async function rebook(
  trx: Transaction,
  ids: readonly bigint[],
  change: () => Promise<void>,
): Promise<void> {
  const shares = await sharesOf(trx, ids)
  const before = await countersOf(trx, ids)
  await change()
  await addShares(trx, shares, await sharesOf(trx, ids))
  const changes = new Map(
    before.map((entry) => [
      counterName(entry),
      { ...entry, used: -entry.used, settled: -entry.settled },
    ]),
  )
  for (const entry of await countersOf(trx, ids)) {
    const name = counterName(entry)
    const { used = 0n, settled = 0n } = changes.get(name) ?? {}
    changes.set(name, { ...entry, used: used + entry.used, settled: settled + entry.settled })
  }
  await addToCounters(trx, [...changes.values()], { create: false })
}

/** The amounts that these reservations add to counters: of each reservation and counter the largest charge. */
async function countersOf(trx: Transaction, ids: readonly bigint[]): Promise<CounterChange[]> {
  const { rows } = await sql<CounterChange>`
    select policy_id as "policyId", budget, subject, bucket,
      sum(used)::numeric(78, 0) as used, sum(settled)::numeric(78, 0) as settled
    from (
      select c.policy_id, c.budget, c.subject, c.bucket, max(c.settled) as settled,
        case when r.state in ('open', 'included', 'expired') then max(c.amount)
          else max(c.settled) end as used
      from charges c join reservations r on r.id = c.reservation_id
      where c.reservation_id = any(${ids}::bigint[])
      group by r.id, r.state, c.policy_id, c.budget, c.subject, c.bucket
    ) as each
    group by policy_id, budget, subject, bucket`.execute(trx)
  return rows
}
