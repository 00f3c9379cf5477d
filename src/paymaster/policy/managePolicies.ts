import { sql } from 'kysely'
import { z } from 'zod'
import { InvalidPolicyError } from '../../base/errors/sponsorshipErrors.js'
import { unixNow } from '../../base/unixNow.js'
import { budgetUnits } from '../../base/vocabulary.js'
import type { Database, Transaction } from '../../db/database.js'
import { findApp } from '../../tenants/apps.js'
import type { AuditChange } from '../../tenants/audit.js'
import {
  deleteRow,
  findShown,
  insertRow,
  listRows,
  lockOwner,
  resource,
  updateRow,
} from '../../tenants/resource.js'
import { route } from '../../tenants/route.js'
import { type AnswerOf, done, id, listOf, name, type Row, time } from '../../tenants/schemas.js'
import { readCounterUses } from '../ledger/budgetCounters.js'
import { bucketsAt, budgetKey, endOf } from './budget/budget.js'
import { budgetSubjects } from './policy.js'
import { type PolicyTerms, termsMistakes, termsSchema } from './policySchema.js'

const policy = z.object({
  policyId: id,
  /** null = binds all apps of the account */
  appId: id.nullable(),
  name: z.string(),
  active: z.boolean(),
  position: z.int(),
  /** As they were written. */
  terms: z.record(z.string(), z.unknown()),
  createdAt: time,
  updatedAt: time,
})

const settings = z.strictObject({
  name,
  active: z.boolean(),
  /** Smaller ones are asked first. */
  position: z.int().min(0).max(1_000_000),
  terms: termsSchema,
})

/** A policy as users see it. */
export type PolicyView = Row<typeof policy>

export const policies = resource({
  name: 'policy',
  table: 'policies',
  shown: policy,
  columns: { policyId: 'id' },
  order: sql`app_id nulls first, position, created_at, id`,
})

/** The account's policies in the order in which they apply: of one app, or (null) its own. */
export function listPolicies(
  db: Database,
  accountId: string,
  appId?: string | null,
): Promise<PolicyView[]> {
  const ofApp = appId !== undefined && { app_id: appId }
  return listRows(db, policies, { account_id: accountId, ...ofApp })
}

/** undefined = the account has no such policy. */
export function findPolicy(
  db: Database,
  accountId: string,
  policyId: string,
): Promise<PolicyView | undefined> {
  return findShown(db, policies, { account_id: accountId, id: policyId })
}

type PolicyChange = {
  readonly name?: string | undefined
  readonly active?: boolean | undefined
  /** Policies with smaller positions apply first; absent in a new one = after all others. */
  readonly position?: number | undefined
  /** JSON of policySchema.ts, as it was written. */
  readonly terms?: unknown
}

/** Throws InvalidPolicyError. */
export async function createPolicy(
  change: AuditChange,
  accountId: string,
  {
    appId,
    name,
    active = true,
    position,
    terms,
  }: PolicyChange & Pick<PolicyView, 'appId' | 'name'>,
): Promise<PolicyView | undefined> {
  const { trx } = change
  if (appId !== null && (await findApp(trx, appId))?.accountId !== accountId)
    throw new InvalidPolicyError('appId', 'is not an active app of the account.')
  const written = checkTerms(terms, appId)
  if (!(await lockOwner(trx, 'account', accountId))) return undefined
  const made = await insertRow(change, policies, {
    account_id: accountId,
    app_id: appId,
    name,
    active,
    position: position ?? (await lastPosition(trx, accountId, appId)) + 1,
    terms: JSON.stringify(written),
  })
  await requireRoom(trx, accountId, appId)
  return made
}

/**
 * Changes the members that are there; terms are replaced whole. Counters of kept budgets stay. undefined = the account
 * has no such policy. Throws InvalidPolicyError.
 */
export async function updatePolicy(
  change: AuditChange,
  accountId: string,
  policyId: string,
  { terms, name, active, position }: PolicyChange,
): Promise<PolicyView | undefined> {
  await lockOwner(change.trx, 'account', accountId)
  const where = { account_id: accountId, id: policyId }
  const after = await updateRow(change, policies, where, ({ app_id }) => ({
    ...(name !== undefined && { name }),
    ...(active !== undefined && { active }),
    ...(position !== undefined && { position }),
    ...(terms !== undefined && { terms: JSON.stringify(checkTerms(terms, app_id)) }),
  }))
  if (after !== undefined) await requireRoom(change.trx, accountId, after.appId)
  return after
}

/** Deletes a policy; its counters go in batches, see `pruneOrphanedCounters`. @returns whether the account had it */
export function removePolicy(
  change: AuditChange,
  accountId: string,
  policyId: string,
): Promise<boolean> {
  return deleteRow(change, policies, { account_id: accountId, id: policyId })
}

async function lastPosition(
  trx: Transaction,
  accountId: string,
  appId: string | null,
): Promise<number> {
  const { rows } = await sql<{ last: number }>`select coalesce(max(position), 0) as last
    from policies where account_id = ${accountId}
      and app_id is not distinct from ${appId}::uuid`.execute(trx)
  return rows[0]?.last ?? 0
}

/** The most policies that an app, or an account itself, may have. */
const MAX_POLICIES = 100

/**
 * The most bytes of terms that these may have together: two lists of 10,000 senders. Terms are read by
 * every process that sponsors for the app.
 */
const MAX_TERMS_BYTES = 1_048_576

/**
 * Requires that the policies of an app, or of the account itself, are within its limits. The account is locked, so that
 * changes at the same time are measured one after the other.
 */
async function requireRoom(
  trx: Transaction,
  accountId: string,
  appId: string | null,
): Promise<void> {
  const { rows } = await sql<{ count: number; bytes: bigint }>`select count(*)::integer as count,
      coalesce(sum(octet_length(terms::text)), 0)::bigint as bytes
    from policies where account_id = ${accountId}
      and app_id is not distinct from ${appId}::uuid`.execute(trx)
  const { count = 0, bytes = 0n } = rows[0] ?? {}
  const whose = appId === null ? 'an account itself' : 'an app'
  if (count > MAX_POLICIES)
    throw new InvalidPolicyError(
      '',
      `${whose} may have ${MAX_POLICIES} policies. Delete one first.`,
    )
  if (bytes > MAX_TERMS_BYTES)
    throw new InvalidPolicyError(
      'terms',
      `the policies of ${whose} may have ${MAX_TERMS_BYTES} bytes of terms together, not ${bytes}.`,
    )
}

/** The terms as the user wrote them, which is how they are stored, once they were found without mistake. */
function checkTerms(terms: unknown, appId: string | null): unknown {
  const written = terms ?? {}
  const [mistake] = termsMistakes(written, { isOfApp: appId !== null })
  if (mistake === undefined) return written
  const path = ['terms', mistake.path].filter((part) => part !== '').join('.')
  throw new InvalidPolicyError(path, `${mistake.message}.`)
}

/** The terms of a body as they were sent, which is how they are stored: not what the schema understood. */
function writtenTerms(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'terms' in raw ? raw.terms : undefined
}

/** Rules and budgets, of the account or of one app. */
export const policyRoutes = [
  route('GET /policies', {
    command: 'list',
    summary: 'The policies of the account, in order of evaluation',
    role: 'viewer',
    query: z.strictObject({ appId: id.optional() }),
    answer: listOf(policy),
    run: ({ context, accountId, query: { appId } }) =>
      listPolicies(context.database, accountId, appId),
  }),
  route('POST /policies', {
    command: 'create',
    summary: 'Create a policy of an app, or (appId null) of the account',
    role: 'admin',
    status: 201,
    body: settings.partial().extend({ appId: id.nullable(), name }),
    answer: policy,
    run: ({ change, accountId, body, raw }) =>
      change((audit) => createPolicy(audit, accountId, { ...body, terms: writtenTerms(raw) })),
  }),
  route('GET /policies/{policyId}', {
    command: 'show',
    summary: 'One policy',
    role: 'viewer',
    answer: policy,
    run: ({ context, accountId, params: { policyId } }) =>
      findPolicy(context.database, accountId, policyId),
  }),
  route('PATCH /policies/{policyId}', {
    command: 'edit',
    summary: 'Change a policy; terms are replaced as a whole, counters of unchanged budgets stay',
    role: 'admin',
    body: settings.partial(),
    answer: policy,
    run: ({ change, accountId, params: { policyId }, body, raw }) =>
      change((audit) =>
        updatePolicy(audit, accountId, policyId, { ...body, terms: writtenTerms(raw) }),
      ),
  }),
  route('DELETE /policies/{policyId}', {
    command: 'delete',
    summary: 'Delete a policy with its counters',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params: { policyId } }) =>
      change((audit) => removePolicy(audit, accountId, policyId)),
  }),
]

/** In the unit: wei, millionths of a USD, or operations. */
const amount = z.string()

/** A budget of a policy and what is used of it. */
const budgetInUse = z.object({
  per: z.enum(budgetSubjects),
  unit: z.enum(budgetUnits),
  /** `day`, `rolling-3600s`, … */
  window: z.string(),
  limit: amount,
  /** Unix seconds; 0 = the window has no beginning. */
  since: z.int(),
  /** Unix seconds: when the window begins anew; null = it moves, or never ends. */
  until: z.int().nullable(),
  /** The ten that used most, senders, delegators, apps, or the account as an empty name: reserved or settled, and of that settled. */
  subjects: z.array(z.object({ subject: z.string(), used: amount, settled: amount })),
})

export const budgetRoutes = [
  route('GET /policies/{policyId}/budgets', {
    summary: 'The current use of each budget of a policy, by subject',
    role: 'viewer',
    answer: listOf(budgetInUse),
    async run({ context: { database }, accountId, params: { policyId } }) {
      const found = await findPolicy(database, accountId, policyId)
      return found && budgetsInUse(database, policyId, termsSchema.parse(found.terms), unixNow())
    },
  }),
]

const MOST_SUBJECTS = 10

/** The budgets of a policy as they are used at `at` (Unix seconds); those of single operations use nothing up. */
function budgetsInUse(
  db: Database,
  policyId: string,
  { budgets }: PolicyTerms,
  at: number,
): Promise<readonly AnswerOf<typeof budgetInUse>[]> {
  return Promise.all(
    budgets.flatMap((budget) => {
      if (budget.per === 'operation') return []
      const { per, unit, limit } = budget
      const name = budgetKey(budget)
      const { current, oldest } = bucketsAt(budget.window, at)
      const [, , window = ''] = name.split(' ')
      const query = { policyId, budget: name, oldest: BigInt(oldest) }
      return readCounterUses(db, query, MOST_SUBJECTS).then((subjects) => ({
        per,
        unit,
        window,
        limit,
        since: oldest,
        until: endOf(budget.window, current) ?? null,
        subjects,
      }))
    }),
  )
}
