import type { Database } from '../store/database.js'
import { type BindingPolicy, policiesForApp, readPolicies } from '../store/tenants/policies.js'
import type { Policy } from './policy.js'
import { termsSchema } from './policySchema.js'

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
