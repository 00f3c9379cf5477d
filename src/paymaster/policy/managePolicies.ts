import { z } from 'zod'
import { NotFoundError } from '../../base/errors/restErrors.js'
import { InvalidPolicyError } from '../../base/errors/sponsorshipErrors.js'
import { unixNow } from '../../base/unixNow.js'
import type { BudgetUnit } from '../../base/vocabulary.js'
import type { Database, Transaction } from '../../db/database.js'
import { inTransaction } from '../../db/inTransaction.js'
import { findApp } from '../../tenants/apps.js'
import { type CounterUse, readCounterUses } from '../ledger/budgetCounters.js'
import { bucketsAt, budgetKey, endOf } from './budget/budget.js'
import {
  deletePolicy,
  findPolicy,
  insertPolicy,
  listPolicies,
  measurePolicies,
  type StoredPolicy,
  updatePolicy,
} from './policies.js'
import type { BudgetSubject } from './policy.js'
import { type PolicyTerms, type TermsInput, termsMistakes, termsSchema } from './policySchema.js'

const name = z.string().min(1).max(100)
const position = z.int().min(0).max(1_000_000)

const newPolicySchema = z.strictObject({
  appId: z.uuid().nullable(),
  name,
  active: z.boolean().default(true),
  position: position.optional(),
  terms: z.unknown(),
})

const changeSchema = z.strictObject({
  name: name.optional(),
  active: z.boolean().optional(),
  position: position.optional(),
  terms: z.unknown().optional(),
})

/** A policy as users see it, with `terms` as they wrote them. */
export type PolicyView = {
  readonly policyId: string
  /** null = binds all apps of the account */
  readonly appId: string | null
  readonly name: string
  readonly active: boolean
  readonly position: number
  readonly terms: TermsInput
  readonly createdAt: Date
  readonly updatedAt: Date
}

/**
 * Policies of one account; those of others do not exist here. Input is unchecked JSON. Throws
 * InvalidPolicyError for input that cannot be used, NotFoundError for an unknown id.
 */
export type Policies = {
  create(accountId: string, input: unknown): Promise<PolicyView>
  /** Policies in the order in which they are asked; null = the account's own, undefined = all. */
  list(accountId: string, appId?: string | null): Promise<readonly PolicyView[]>
  get(accountId: string, policyId: string): Promise<PolicyView>
  /** What is used of each budget now. */
  budgets(accountId: string, policyId: string): Promise<readonly BudgetInUse[]>
  /**
   * Changes the members that `input` has; `terms` are replaced whole. Counters of kept budgets
   * stay.
   */
  update(accountId: string, policyId: string, input: unknown): Promise<PolicyView>
  remove(accountId: string, policyId: string): Promise<void>
}

export function createPolicies(database: Database): Policies {
  return {
    async create(accountId, input) {
      const { position, terms, ...fields } = parse(newPolicySchema, input)
      if (fields.appId !== null) {
        const app = await findApp(database, fields.appId)
        if (app?.accountId !== accountId)
          throw new InvalidPolicyError('appId', 'is not an active app of the account.')
      }
      const policy = { accountId, ...fields, position, terms: checkTerms(terms, fields.appId) }
      return inTransaction(database, async (trx) => {
        const stored = await insertPolicy(trx, policy)
        await requireRoom(trx, stored)
        return toView(stored)
      })
    },

    async list(accountId, appId) {
      return (await listPolicies(database, accountId, appId)).map(toView)
    },

    async get(accountId, policyId) {
      return toView(required(await findPolicy(database, accountId, policyId)))
    },

    async budgets(accountId, policyId) {
      const { terms } = required(await findPolicy(database, accountId, policyId))
      return budgetsInUse(database, policyId, termsSchema.parse(terms), unixNow())
    },

    async update(accountId, policyId, input) {
      const { terms, name, active, position } = parse(changeSchema, input)
      const { app_id } = required(await findPolicy(database, accountId, policyId))
      const change = {
        ...(name !== undefined && { name }),
        ...(active !== undefined && { active }),
        ...(position !== undefined && { position }),
        ...(terms !== undefined && { terms: checkTerms(terms, app_id) }),
      }
      return inTransaction(database, async (trx) => {
        const stored = required(await updatePolicy(trx, accountId, policyId, change))
        await requireRoom(trx, stored)
        return toView(stored)
      })
    },

    async remove(accountId, policyId) {
      if (!(await deletePolicy(database, accountId, policyId))) throw new NotFoundError('Policy')
    },
  }
}

/** The most policies that an app, or an account itself, may have. */
const MAX_POLICIES = 100

/**
 * The most bytes of terms that these may have together: two lists of 10,000 senders. Terms are read by
 * every process that sponsors for the app.
 */
const MAX_TERMS_BYTES = 1_048_576

/** Requires that a policy which the transaction has stored is within the limits of its app or account. */
async function requireRoom(
  trx: Transaction,
  { account_id, app_id }: Pick<StoredPolicy, 'account_id' | 'app_id'>,
): Promise<void> {
  const { count, bytes } = await measurePolicies(trx, account_id, app_id)
  const whose = app_id === null ? 'an account itself' : 'an app'
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

function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new InvalidPolicyError(issue?.path.join('.') ?? '', `${issue?.message ?? 'is malformed'}.`)
}

function required(policy: StoredPolicy | undefined): StoredPolicy {
  if (policy === undefined) throw new NotFoundError('Policy')
  return policy
}

function toView(stored: StoredPolicy): PolicyView {
  return {
    policyId: stored.id,
    appId: stored.app_id,
    name: stored.name,
    active: stored.active,
    position: stored.position,
    terms: stored.terms as TermsInput,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
  }
}

/** A budget of a policy and what is used of it. Amounts in the unit: wei, millionths of a USD, operations. */
type BudgetInUse = {
  readonly per: BudgetSubject
  readonly unit: BudgetUnit
  /** `day`, `rolling-3600s`, … */
  readonly window: string
  readonly limit: bigint
  /** Unix seconds: the beginning of the window; 0 = it has none. */
  readonly since: number
  /** Unix seconds: the end of the window, at which it begins anew; null = it moves, or never ends. */
  readonly until: number | null
  /** Those that used most: senders, delegators, apps, or the account as an empty name. */
  readonly subjects: readonly CounterUse[]
}

const MOST_SUBJECTS = 10

/** The budgets of a policy as they are used at `at` (Unix seconds); those of single operations use nothing up. */
function budgetsInUse(
  db: Database,
  policyId: string,
  { budgets }: PolicyTerms,
  at: number,
): Promise<readonly BudgetInUse[]> {
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
