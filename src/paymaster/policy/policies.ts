import { type Selectable, sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.js'
import { inTransaction } from '../../db/inTransaction.js'
import type { Schema } from '../../db/schema.generated.js'
import { isUuid } from '../../db/uuid.js'
import { type Policy, termsSchema } from './policySchema.js'
import { boundsSenders } from './termsWarnings.js'

export type StoredPolicy = Selectable<Schema['policies']>

/** A policy to store; `terms` is JSON of policySchema.ts. */
type NewPolicy = {
  readonly accountId: string
  /** null = binds all apps of the account */
  readonly appId: string | null
  readonly name: string
  readonly active: boolean
  /** Policies with smaller positions apply first; undefined = after all others. */
  readonly position: number | undefined
  readonly terms: unknown
}

type PolicyChange = Partial<Pick<NewPolicy, 'name' | 'active' | 'position' | 'terms'>>

/** Stores a policy. The caller makes sure that the app is the account's. */
export function insertPolicy(db: Database, policy: NewPolicy): Promise<StoredPolicy> {
  return db
    .insertInto('policies')
    .values({
      account_id: policy.accountId,
      app_id: policy.appId,
      name: policy.name,
      active: policy.active,
      position:
        policy.position ??
        sql<number>`(select coalesce(max(position), 0) + 1 from policies
          where account_id = ${policy.accountId}
            and app_id is not distinct from ${policy.appId}::uuid)`,
      terms: JSON.stringify(policy.terms),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The account's policies in the order in which they apply; of one app when `appId` is given. */
export function listPolicies(
  db: Database,
  accountId: string,
  appId?: string | null,
): Promise<StoredPolicy[]> {
  return db
    .selectFrom('policies')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(appId !== undefined, (query) =>
      query.where(sql<boolean>`app_id is not distinct from ${appId ?? null}::uuid`),
    )
    .orderBy(sql`app_id nulls first`)
    .orderBy('position')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** A policy that binds an app; `version` differs after every change. */
type BindingPolicy = StoredPolicy & { readonly version: string }

const version = sql<string>`p.updated_at::text || ' ' || p.xmin::text`

/**
 * The policies that bind an app, without their terms: those of its account first, then its own, each in
 * order.
 */
function policiesForApp(
  db: Database,
  appId: string,
): Promise<Pick<BindingPolicy, 'id' | 'version'>[]> {
  return db
    .selectFrom('policies as p')
    .innerJoin('apps as a', 'a.account_id', 'p.account_id')
    .select(['p.id', version.as('version')])
    .where('a.id', '=', appId)
    .where(({ eb, or }) => or([eb('p.app_id', 'is', null), eb('p.app_id', '=', appId)]))
    .orderBy(sql`p.app_id nulls first`)
    .orderBy('p.position')
    .orderBy('p.created_at')
    .orderBy('p.id')
    .execute()
}

/** These policies whole, in no order. */
function readPolicies(db: Database, ids: readonly string[]): Promise<BindingPolicy[]> {
  return db
    .selectFrom('policies as p')
    .selectAll('p')
    .select(version.as('version'))
    .where(sql<boolean>`p.id = any(${ids}::uuid[])`)
    .execute()
}

/** The number of the policies of an app (null: of the account's own), and the bytes of their terms. */
type PolicyVolume = { readonly count: number; readonly bytes: number }

/**
 * Measures the policies of an app, or of the account, and locks the account, so that changes at the same
 * time are measured one after the other.
 */
export async function measurePolicies(
  trx: Transaction,
  accountId: string,
  appId: string | null,
): Promise<PolicyVolume> {
  await sql`select from accounts where id = ${accountId} for no key update`.execute(trx)
  const { rows } = await sql<{ count: bigint; bytes: bigint }>`
    select count(*) as count, coalesce(sum(octet_length(terms::text)), 0)::bigint as bytes
    from policies where account_id = ${accountId} and app_id is not distinct from ${appId}::uuid`.execute(
    trx,
  )
  return { count: Number(rows[0]?.count), bytes: Number(rows[0]?.bytes) }
}

export async function findPolicy(
  db: Database,
  accountId: string,
  id: string,
): Promise<StoredPolicy | undefined> {
  return isUuid(id)
    ? db
        .selectFrom('policies')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .executeTakeFirst()
    : undefined
}

/** @returns undefined when the account has no such policy */
export async function updatePolicy(
  db: Database,
  accountId: string,
  id: string,
  { terms, ...change }: PolicyChange,
): Promise<StoredPolicy | undefined> {
  return isUuid(id)
    ? db
        .updateTable('policies')
        .set({
          ...change,
          ...(terms !== undefined && { terms: JSON.stringify(terms) }),
          updated_at: sql<Date>`now()`,
        })
        .where('id', '=', id)
        .where('account_id', '=', accountId)
        .returningAll()
        .executeTakeFirst()
    : undefined
}

/** Deletes a policy and its counters. @returns false when the account has no such policy */
export async function deletePolicy(db: Database, accountId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  return inTransaction(db, async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom('policies')
      .where('id', '=', id)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (numDeletedRows === 0n) return false
    await trx.deleteFrom('budget_counters').where('policy_id', '=', id).execute()
    return true
  })
}

/** The policies that bind an app: all of the account's, and one of the app's own if it has any. */
export type AppPolicies = {
  readonly ofAccount: readonly Policy[]
  readonly ofApp: readonly Policy[]
}

/** The policies that bind an app. Of those that did not change since the last time only the version is read. */
export async function loadPolicies(db: Database, appId: string): Promise<AppPolicies> {
  const bound = await policiesForApp(db, appId)
  const isKnown = ({ id, version }: (typeof bound)[number]) => parsed.get(id)?.version === version
  const missing = bound.filter((each) => !isKnown(each)).map(({ id }) => id)
  const known = new Map(bound.filter(isKnown).map(({ id }) => [id, parsed.get(id)?.policy]))
  const read = missing.length === 0 ? [] : await readPolicies(db, missing)
  for (const stored of read) known.set(stored.id, remember(stored))
  // One that was deleted between the two reads is not among them.
  const policies = bound.flatMap(({ id }) => known.get(id) ?? [])
  return {
    ofAccount: policies.filter((policy) => policy.appId === undefined),
    ofApp: policies.filter((policy) => policy.appId !== undefined),
  }
}

/** Whether each sender of an app is bound in what it gets, whichever policy pays. */
export function boundsEachSender({ ofAccount, ofApp }: AppPolicies): boolean {
  const bounds = ({ active, terms }: Policy) => active && boundsSenders(terms)
  const paying = ofApp.filter(({ active }) => active)
  return ofAccount.some(bounds) || (ofApp.length > 0 && paying.every(bounds))
}

type Remembered = { readonly version: string; readonly policy: Policy }

/** Parsed policies by id: reading and parsing large terms for each request would stop all others. */
const parsed = new Map<string, Remembered>()
/** Of the terms in `parsed`, as text; they are some times larger as objects. */
const volume = { bytes: 0 }
const MAX_PARSED_BYTES = 67_108_864

function remember(stored: BindingPolicy): Policy {
  const { id, app_id, name, active, terms, version } = stored
  const appId = app_id ?? undefined
  const policy = { id, appId, name, active, terms: termsSchema.parse(terms) }
  volume.bytes += JSON.stringify(terms).length
  if (volume.bytes > MAX_PARSED_BYTES) {
    parsed.clear()
    volume.bytes = 0
  }
  parsed.set(id, { version, policy })
  return policy
}
