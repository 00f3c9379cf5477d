import { TenantLimitError } from '../errors/limitErrors.js'
import type { AuditChange } from '../store/tenants/audit.js'
import {
  deleteRule,
  insertRule,
  listRules,
  lockDashboard,
  measureRules,
  type RuleKind,
  type StoredRule,
  setDashboard,
  updateRule,
} from '../store/tenants/dashboard.js'
import { findPolicy } from '../store/tenants/policies.js'
import { type DashboardRule, dashboardTerms } from './dashboardTerms.js'
import { createPolicies } from './managePolicies.js'

/** The app whose rules they are, and its account. */
export type DashboardOwner = { readonly accountId: string; readonly appId: string }

/**
 * The rules of an app's dashboard within one audited change. Each change rewrites the app's policy
 * `Dashboard` from all its rules; the audit log records the change of that policy.
 */
export type DashboardRules = {
  /** All rules, the oldest first. */
  list(): Promise<readonly StoredRule[]>
  add(kind: RuleKind, name: string, data: object): Promise<StoredRule>
  /** undefined = there is no such rule. */
  change(
    id: string,
    change: Partial<Pick<StoredRule, 'name' | 'active' | 'data'>>,
  ): Promise<StoredRule | undefined>
  remove(id: string): Promise<void>
}

/** The most rules of a dashboard, and the bytes that they may have together (ABIs of contracts). */
const MAX_RULES = 200
const MAX_RULES_BYTES = 2_097_152

/** Locks the dashboard of an app for the rest of the change. */
export async function openDashboard(
  { trx, record }: AuditChange,
  { accountId, appId }: DashboardOwner,
): Promise<DashboardRules> {
  const { chain_id } = await lockDashboard(trx, appId)

  const apply = async (): Promise<void> => {
    const { policy_id } = await lockDashboard(trx, appId)
    const rules = (await listRules(trx, appId)) as unknown as readonly DashboardRule[]
    const compiled = dashboardTerms(rules, chain_id === null ? undefined : Number(chain_id))
    const policies = createPolicies(trx)
    const known = policy_id && (await findPolicy(trx, accountId, policy_id))
    const place = { accountId, appId }
    if (!known) {
      const after = await policies.create(accountId, { appId, name: 'Dashboard', ...compiled })
      await setDashboard(trx, appId, { policy_id: after.policyId })
      await record({ action: 'policy.create', objectId: after.policyId, ...place, after })
      return
    }
    const before = await policies.get(accountId, known.id)
    const after = await policies.update(accountId, known.id, compiled)
    await record({ action: 'policy.update', objectId: known.id, ...place, before, after })
  }

  const requireRoom = async (): Promise<void> => {
    const { count, bytes } = await measureRules(trx, appId)
    if (count > MAX_RULES) throw new TenantLimitError('app', `${MAX_RULES} rules`)
    if (bytes > MAX_RULES_BYTES)
      throw new TenantLimitError('app', `${MAX_RULES_BYTES} bytes of rules`)
  }

  return {
    list: () => listRules(trx, appId),
    async add(kind, name, data) {
      const rule = await insertRule(trx, { app_id: appId, kind, name, data })
      await requireRoom()
      await apply()
      return rule
    },
    async change(id, change) {
      const rule = await updateRule(trx, appId, id, change)
      await requireRoom()
      if (rule !== undefined) await apply()
      return rule
    },
    async remove(id) {
      await deleteRule(trx, appId, id)
      await apply()
    },
  }
}
