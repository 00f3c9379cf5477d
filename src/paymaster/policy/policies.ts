import { type Selectable, sql } from 'kysely'
import type { Database } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { type Policy, termsSchema } from './policySchema.js'
import { boundsSenders } from './termsWarnings.js'

type StoredPolicy = Selectable<Schema['policies']>

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
