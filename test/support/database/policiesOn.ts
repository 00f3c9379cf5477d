import { NotFoundError } from '../../../src/base/errors/restErrors.js'
import type { Database } from '../../../src/db/database.js'
import {
  createPolicy,
  findPolicy,
  listPolicies,
  removePolicy,
  updatePolicy,
} from '../../../src/paymaster/policy/managePolicies.js'
import { type AuditChange, audited } from '../../../src/tenants/audit.js'
import { testActor } from '../actor.js'

export type Policies = ReturnType<typeof policiesOn>

/** The policies of accounts as a test changes them; what the account does not have is not found. */
export function policiesOn(database: Database) {
  const change = async <Result>(run: (change: AuditChange) => Promise<Result>) => {
    const result = await audited(database, testActor, run)
    if (result === undefined || result === false) throw new NotFoundError('Policy')
    return result as Exclude<Result, undefined>
  }
  return {
    create: (account: string, policy: Parameters<typeof createPolicy>[2]) =>
      change((made) => createPolicy(made, account, policy)),
    update: (account: string, id: string, policy: Parameters<typeof updatePolicy>[3]) =>
      change((made) => updatePolicy(made, account, id, policy)),
    remove: (account: string, id: string) => change((made) => removePolicy(made, account, id)),
    list: (account: string, appId?: string | null) => listPolicies(database, account, appId),
    get: (account: string, id: string) => change(({ trx }) => findPolicy(trx, account, id)),
  }
}
