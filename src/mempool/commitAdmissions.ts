import type { Kysely, QueryExecutorProvider } from 'kysely'
import type { Hex } from 'viem'
import { faultPoint } from '../base/faults.js'
import { emitOperationEvents } from '../store/events.js'
import { pipelined } from '../store/pipelined.js'
import {
  type AdmissionFacts,
  countApp,
  countPool,
  displaceOperations,
  holdCheapest,
  holdPooled,
  lockPool,
  type PoolSlot,
  putOperations,
  readFacts,
  scopeNames,
  sumPaymaster,
} from '../store/pool/admissions.js'
import { offerOf } from '../store/pool/operations.js'
import { countReputations, type EntityFacts, readEntityFacts } from '../store/pool/reputations.js'
import type { OperationState, Schema } from '../store/schema.js'
import { createEntityView, type EntityView, usesOf } from './createEntityView.js'
import {
  type Admission,
  createPoolView,
  type PoolFacts,
  type PoolView,
  senderName,
  slotName,
} from './createPoolView.js'
import { type AdmissionDecision, type AdmissionLimits, decideAdmission } from './decideAdmission.js'

/**
 * Decides about admissions to one chain's pool, in their order, and carries the decisions out in one
 * transaction; resolves after the commit. Whatever processes and transactions they come in, each sees
 * what those before it left. A refusal is data and costs the others nothing; when something is
 * thrown, nothing of it was done. An operation that a bundle takes or frees at this very moment counts
 * as bundled.
 */
export function commitAdmissions(
  database: Kysely<Schema>,
  chainId: number,
  admissions: readonly Admission[],
  limits: AdmissionLimits,
): Promise<AdmissionDecision[]> {
  return database.transaction().execute(async (trx) => {
    const [, facts, entityFacts] = await pipelined(trx, (statements) =>
      Promise.all([
        lockPool(statements, chainId),
        readFacts(
          statements,
          chainId,
          admissions.map(({ entry }) => entry),
        ),
        readEntities(statements, chainId, admissions),
      ]),
    )
    const view = createPoolView(await readPool(trx, chainId, admissions, facts, limits))
    const entityView = createEntityView(entityFacts)
    const decisions = admissions.map((admission) => {
      const decision = decideNext(admission, view, entityView, limits)
      const { entities } = admission
      const counted = (entities && entityView.counted(entities)) ?? []
      view.apply(admission, decision, counted)
      if (entities && decision.kind === 'insert') entityView.take(entities, decision.replaces)
      return decision
    })
    const puts = view.puts()
    await pipelined(trx, (statements) => carryOut(statements, chainId, view, puts))
    for (const _ of puts) faultPoint('admission:inserted')
    return decisions
  })
}

/** In this order: what counts and tells reads what was put before. */
async function carryOut(
  statements: QueryExecutorProvider,
  chainId: number,
  { displaced, totals }: PoolView,
  puts: ReturnType<PoolView['puts']>,
): Promise<void> {
  const seen = puts.filter(({ standing }) => standing.state === 'pooled')
  const gone = puts.filter(({ standing }) => standing.state !== 'pooled')
  const hashes = (of: typeof puts) => of.map(({ entry }) => entry.hash)
  const unseen = [...displaced.keys()]
  await Promise.all([
    displaceOperations(statements, chainId, displaced),
    putOperations(statements, chainId, puts, totals),
    emitOperationEvents(statements, chainId, [...unseen, ...hashes(gone)]),
    countReputations(statements, chainId, { seen: hashes(seen), unseen }),
  ])
}

/** What the pool and then the entities say; a staked sender has no limit of its own (SREP-040). */
function decideNext(
  admission: Admission,
  view: ReturnType<typeof createPoolView>,
  entityView: EntityView,
  limits: AdmissionLimits,
): AdmissionDecision {
  const { entry, deposit, baseFee, entities } = admission
  const { operation, prefund } = entry
  const decision = decideAdmission(
    { operation, offer: offerOf(entry), prefund, deposit, baseFee },
    view.occupancy(admission),
    entities?.staked.account
      ? { ...limits, maxOperationsPerSender: Number.POSITIVE_INFINITY }
      : limits,
  )
  if (decision.kind !== 'insert' || entities === undefined) return decision
  const error = entityView.refuse(entities, decision.replaces)
  return error ? { kind: 'refuse', error } : decision
}

function readEntities(
  statements: QueryExecutorProvider,
  chainId: number,
  admissions: readonly Admission[],
): Promise<EntityFacts[]> {
  const named = admissions.flatMap(({ entities }) =>
    entities
      ? usesOf(entities).map(({ address }) => ({ entryPoint: entities.entryPoint, address }))
      : [],
  )
  return named.length > 0 ? readEntityFacts(statements, chainId, named) : Promise.resolve([])
}

/** Holds what may be replaced, and counts only where a bound leaves a limit in doubt. */
async function readPool(
  trx: Kysely<Schema>,
  chainId: number,
  admissions: readonly Admission[],
  facts: readonly AdmissionFacts[],
  limits: AdmissionLimits,
): Promise<PoolFacts> {
  const known = new Map<Hex, OperationState>()
  const slots = new Map<string, PoolSlot>()
  const ofSender = new Map<string, number>()
  const rivals = new Map<string, PoolSlot>()
  for (const [place, { entry }] of admissions.entries()) {
    const { known: state, slot, ofSender: count } = facts[place]!
    const { hash, entryPoint, operation } = entry
    const { sender, nonce } = operation
    const name = slotName(entryPoint, sender, nonce)
    if (state) known.set(hash, state)
    if (slot) slots.set(name, slot)
    if (slot?.state === 'pooled') rivals.set(name, slot)
    ofSender.set(senderName(entryPoint, sender), count)
  }
  const rivalHashes = [...rivals.values()].map(({ hash }) => hash)
  const held = rivalHashes.length > 0 ? await holdPooled(trx, chainId, rivalHashes) : new Set()
  for (const [name, slot] of rivals)
    if (!held.has(slot.hash)) slots.set(name, { ...slot, state: 'bundled' })

  const totals = await readTotals(trx, chainId, admissions, facts, limits)
  const live = totals.get(scopeNames.pool)!
  const mayFill = live + BigInt(admissions.length) > BigInt(limits.maxOperations)
  // One may give way for each admission; those of a candidate's own sender never do.
  const needed = admissions.length + limits.maxOperationsPerSender
  const cheapest = mayFill ? await holdCheapest(trx, chainId, needed) : []
  return { known, slots, ofSender, totals, cheapest }
}

type Limited = {
  readonly bound: bigint | undefined
  readonly limit: bigint
  readonly added: bigint
  readonly count: () => Promise<bigint>
}

/**
 * For each limit what it counts. Where even the bound and all candidates together stay within the
 * limit, the bound serves: a limit is far from most admissions, and counting a big pool is slow.
 */
async function readTotals(
  trx: Kysely<Schema>,
  chainId: number,
  admissions: readonly Admission[],
  facts: readonly AdmissionFacts[],
  limits: AdmissionLimits,
): Promise<Map<string, bigint>> {
  const limited = new Map<string, Limited>()
  const add = (scope: string, { bound, limit, added, count }: Limited): void => {
    const before = limited.get(scope)
    limited.set(scope, {
      bound,
      count,
      limit: before && before.limit < limit ? before.limit : limit,
      added: (before?.added ?? 0n) + added,
    })
  }
  for (const [place, { entry, deposit }] of admissions.entries()) {
    const { bounds } = facts[place]!
    const { entryPoint, appId, operation, prefund } = entry
    const { paymaster } = operation
    add(scopeNames.pool, {
      bound: bounds.pool,
      limit: BigInt(limits.maxOperations),
      added: 1n,
      count: () => countPool(trx, chainId),
    })
    add(scopeNames.app(appId), {
      bound: bounds.app,
      limit: BigInt(limits.maxOperationsPerApp),
      added: 1n,
      count: () => countApp(trx, chainId, appId),
    })
    if (paymaster !== undefined && deposit !== undefined)
      add(scopeNames.paymaster(entryPoint, paymaster), {
        bound: bounds.paymaster,
        limit: deposit,
        added: prefund,
        count: () => sumPaymaster(trx, chainId, entryPoint, paymaster),
      })
  }
  const totals = new Map<string, bigint>()
  for (const [scope, { bound, limit, added, count }] of limited) {
    const inDoubt = bound === undefined || bound + added > limit
    totals.set(scope, inDoubt ? await count() : bound)
  }
  return totals
}
