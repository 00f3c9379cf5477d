import type { Hex } from 'viem'
import type { PurserError } from '../base/errors/purserError.js'
import { RuleViolationError, UnstakedEntityFullError } from '../base/errors/ruleErrors.js'
import { faultPoint } from '../base/faults.js'
import type { Database, Transaction, TransactionExecutor } from '../db/database.js'
import { emitOperationEvents } from '../db/events.js'
import { pipelined, pipelinedToCommit } from '../db/pipelined.js'
import { conflictingDelegate } from '../erc4337/rules/index.js'
import { createEntityView, type EntityView, usesOf } from './createEntityView.js'
import { type AdmissionDecision, type AdmissionLimits, decideAdmission } from './decideAdmission.js'
import {
  type AdmissionFacts,
  holdCheapest,
  holdPooled,
  type PoolSlot,
  readFacts,
} from './pool/admissionFacts.js'
import { countApp, countPool, lockPool, scopeNames, sumPaymaster } from './pool/bounds.js'
import { delegatingOperations, type OperationState } from './pool/operations.js'
import { rememberPooled } from './pool/pooledOperations.js'
import { bidOf, displaceOperations, pooledOperation, putOperations } from './pool/putOperations.js'
import { countReputations, type EntityFacts, readEntityFacts } from './pool/reputations.js'
import { refusalsByReverts } from './pool/reverts.js'
import {
  type Admission,
  applyDecision,
  createPoolView,
  occupancyOf,
  type PoolFacts,
  type PoolView,
  senderName,
  slotName,
} from './poolView.js'

/**
 * Decides about admissions to one chain's pool, in their order, and writes the decisions in one
 * transaction; resolves after the commit. Each admission sees the pool as those before it left it, also
 * those of other processes. A refusal is data and costs the others nothing; when something is thrown,
 * nothing was written. An operation that a bundle takes or releases at this very moment counts as
 * bundled.
 */
export function commitAdmissions(
  database: Database,
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
    const paused = await findPaused(trx, chainId, admissions, facts)
    const decisions = admissions.map((admission) => {
      const decision = decideNext(admission, view, entityView, limits, paused.get(admission))
      const { entities } = admission
      const counted = (entities && entityView.counted(entities)) ?? []
      applyDecision(view, admission, decision, counted)
      if (entities && decision.kind === 'insert') entityView.take(entities, decision.replaces)
      return decision
    })
    for (const _ of view.puts.keys()) faultPoint('admission:inserting')
    const times = await pipelinedToCommit(trx, (statements) =>
      writeChanges(statements, chainId, view),
    )
    for (const { entry, standing } of view.puts.values()) {
      const receivedAt = times.get(entry.hash)
      if (receivedAt && standing.state === 'pooled')
        rememberPooled(pooledOperation(entry, receivedAt))
    }
    return decisions
  })
}

/**
 * Writes the changes of the pool, and returns the times at which operations came into it. The order matters: events and
 * counts read the rows put before them.
 */
async function writeChanges(
  statements: TransactionExecutor,
  chainId: number,
  { displaced, totals, puts }: PoolView,
): Promise<ReadonlyMap<Hex, Date>> {
  const rows = [...puts.values()]
  const staying = rows.filter(({ standing }) => standing.state === 'pooled')
  const leaving = rows.filter(({ standing }) => standing.state !== 'pooled')
  const hashesOf = (some: typeof rows) => some.map(({ entry }) => entry.hash)
  const counted = staying.filter(({ entry }) => entry.counted.length > 0)
  const unseen = [...displaced.keys()]
  const [, times] = await Promise.all([
    displaceOperations(statements, chainId, displaced),
    putOperations(statements, chainId, rows, totals),
    emitOperationEvents(statements, chainId, [...unseen, ...hashesOf(leaving)]),
    countReputations(statements, chainId, { seen: hashesOf(counted), unseen }),
  ])
  return times
}

/** The refusals of admissions whose sender, paymaster or app is paused. Few are ever looked at. */
async function findPaused(
  trx: Transaction,
  chainId: number,
  admissions: readonly Admission[],
  facts: readonly AdmissionFacts[],
): Promise<ReadonlyMap<Admission, PurserError>> {
  const suspects = admissions.filter((_, place) => facts[place]!.mayBePaused)
  const subjects = suspects.map(({ entry: { operation: op, entryPoint, appId } }) => ({
    op,
    entryPoint,
    appId,
  }))
  const errors = suspects.length > 0 ? await refusalsByReverts(trx, chainId, subjects) : []
  return new Map(suspects.flatMap((each, place) => (errors[place] ? [[each, errors[place]]] : [])))
}

/**
 * The decision by the pool, unless the operation is `paused` for what others of its parties did, and then by the entities; a
 * staked sender has no limit (SREP-040).
 */
function decideNext(
  admission: Admission,
  view: PoolView,
  entityView: EntityView,
  limits: AdmissionLimits,
  paused: PurserError | undefined,
): AdmissionDecision {
  const { entry, deposit, baseFee, entities } = admission
  const { operation, prefund } = entry
  const decision = decideAdmission(
    { operation, bid: bidOf(entry), prefund, deposit, baseFee },
    occupancyOf(view, admission),
    entities?.staked.account
      ? { ...limits, maxOperationsPerSender: Number.POSITIVE_INFINITY }
      : limits,
  )
  if (paused && decision.kind !== 'known') return { kind: 'refuse', error: paused }
  // A ban or throttle (SREP-020, SREP-030) outranks being one too many (UREP-010).
  const isFull = decision.kind === 'refuse' && decision.error instanceof UnstakedEntityFullError
  if (!(decision.kind === 'insert' || isFull)) return decision
  const replaced = decision.kind === 'insert' ? decision.replaces : undefined
  const error =
    (isFull ? undefined : checkDelegate(entry, view, replaced)) ??
    (entities && entityView.refuse(entities, replaced))
  return error ? { kind: 'refuse', error } : decision
}

/**
 * AUTH-040, with rules or without: what is in flight for one EntryPoint could make a bundle for another revert. The
 * operation that is replaced does not count.
 */
function checkDelegate(
  { operation }: Admission['entry'],
  { delegating }: PoolView,
  replaced: PoolSlot | undefined,
): RuleViolationError | undefined {
  const others = [...delegating].filter(([hash]) => hash !== replaced?.hash)
  const [violation] = conflictingDelegate(
    operation,
    others.map(([, op]) => op),
  )
  if (violation === undefined) return undefined
  const { rule, message, entity, address } = violation
  return new RuleViolationError({ message, rule, place: { entity, address } })
}

function readEntities(
  statements: TransactionExecutor,
  chainId: number,
  admissions: readonly Admission[],
): Promise<EntityFacts[]> {
  const entitiesOfAll = admissions.flatMap(({ entities }) =>
    entities
      ? usesOf(entities).map(({ address }) => ({ entryPoint: entities.entryPoint, address }))
      : [],
  )
  return entitiesOfAll.length > 0
    ? readEntityFacts(statements, chainId, entitiesOfAll)
    : Promise.resolve([])
}

/** Reads the pool, holds operations that may be replaced, and counts only where a bound is in doubt. */
async function readPool(
  trx: Transaction,
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
  const poolSize = totals.get(scopeNames.pool)!
  const mayFill = poolSize + BigInt(admissions.length) > BigInt(limits.maxOperations)
  // One operation may give way for each admission, but never to one of its own sender.
  const needed = admissions.length + limits.maxOperationsPerSender
  const cheapest = mayFill ? await holdCheapest(trx, chainId, needed) : []
  const delegating = await delegatingOperations(
    trx,
    chainId,
    admissions.flatMap(({ entry: { operation } }) =>
      operation.authorization ? [operation.sender] : [],
    ),
  )
  return { known, slots, ofSender, totals, cheapest, delegating }
}

/** A limit, and the number that it bounds. */
type LimitedTotal = {
  /** A number that the total surely does not exceed; undefined where none is known. */
  readonly bound: bigint | undefined
  readonly limit: bigint
  readonly added: bigint
  readonly count: () => Promise<bigint>
}

/**
 * The total that each limit bounds. Where the bound and all candidates together stay within the limit,
 * the bound is good enough: limits are far from most admissions, and counting a big pool is slow.
 */
async function readTotals(
  trx: Transaction,
  chainId: number,
  admissions: readonly Admission[],
  facts: readonly AdmissionFacts[],
  limits: AdmissionLimits,
): Promise<Map<string, bigint>> {
  const limited = new Map<string, LimitedTotal>()
  const add = (scope: string, { bound, limit, added, count }: LimitedTotal): void => {
    const earlier = limited.get(scope)
    limited.set(scope, {
      bound,
      count,
      limit: earlier && earlier.limit < limit ? earlier.limit : limit,
      added: (earlier?.added ?? 0n) + added,
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
