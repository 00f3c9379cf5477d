import type { Database } from '../store/database.js'
import { type BindingPolicy, policiesForApp } from '../store/tenants/policies.js'
import type { Policy } from './policy.js'
import { termsSchema } from './policySchema.js'

/** What binds an app: all of the account's policies, and one of its own if it has any. */
export type AppPolicies = {
  readonly ofAccount: readonly Policy[]
  readonly ofApp: readonly Policy[]
}

export async function loadPolicies(db: Database, appId: string): Promise<AppPolicies> {
  const all = (await policiesForApp(db, appId)).map(toPolicy)
  return {
    ofAccount: all.filter((policy) => policy.appId === undefined),
    ofApp: all.filter((policy) => policy.appId !== undefined),
  }
}

/** Terms are understood once per change: that takes longer than to read them. */
const understood = new Map<string, { readonly version: string; readonly policy: Policy }>()
const MAX_UNDERSTOOD = 10_000

function toPolicy(stored: BindingPolicy): Policy {
  const { id, app_id, name, active, terms, version } = stored
  const known = understood.get(id)
  if (known?.version === version) return known.policy
  const appId = app_id ?? undefined
  const policy = { id, appId, name, active, terms: termsSchema.parse(terms) }
  if (understood.size >= MAX_UNDERSTOOD) understood.clear()
  understood.set(id, { version, policy })
  return policy
}
