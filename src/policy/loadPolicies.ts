import type { Database } from '../store/database.js'
import { type BindingPolicy, policiesForApp } from '../store/tenants/policies.js'
import type { Policy } from './policy.js'
import { termsSchema } from './policySchema.js'

/** The policies that bind an app: all of the account's, and one of the app's own if it has any. */
export type AppPolicies = {
  readonly ofAccount: readonly Policy[]
  readonly ofApp: readonly Policy[]
}

export async function loadPolicies(db: Database, appId: string): Promise<AppPolicies> {
  const policies = (await policiesForApp(db, appId)).map(toPolicy)
  return {
    ofAccount: policies.filter((policy) => policy.appId === undefined),
    ofApp: policies.filter((policy) => policy.appId !== undefined),
  }
}

/** Parsed policies by id: parsing takes longer than reading, so it is done once per change. */
const parsed = new Map<string, { readonly version: string; readonly policy: Policy }>()
const MAX_PARSED = 10_000

function toPolicy(stored: BindingPolicy): Policy {
  const { id, app_id, name, active, terms, version } = stored
  const known = parsed.get(id)
  if (known?.version === version) return known.policy
  const appId = app_id ?? undefined
  const policy = { id, appId, name, active, terms: termsSchema.parse(terms) }
  if (parsed.size >= MAX_PARSED) parsed.clear()
  parsed.set(id, { version, policy })
  return policy
}
