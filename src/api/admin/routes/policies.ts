import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { createPolicies, type PolicyView } from '../../../policy/managePolicies.js'
import { audited } from '../../../store/tenants/audit.js'
import { type Route, serve } from '../route.js'

/** Terms are stored as they were written, so what the schema understood is not what goes on. */
function asWritten(body: object, raw: unknown): object {
  return {
    ...defined(body),
    ...(typeof raw === 'object' && raw !== null && 'terms' in raw && { terms: raw.terms }),
  }
}

function entryOf(accountId: string, { policyId, appId }: PolicyView) {
  return {
    objectId: policyId,
    accountId,
    appId,
  }
}

export const policyRoutes: readonly Route[] = serve(contracts.policy)({
  'GET /policies': async ({ context, accountId, query: { appId } }) => ({
    items: await createPolicies(context.database).list(accountId, appId),
  }),
  'POST /policies': ({ context, caller, accountId, body, raw }) =>
    audited(context.database, caller.actor, async ({ trx, record }) => {
      const after = await createPolicies(trx).create(accountId, asWritten(body, raw))
      await record({ action: 'policy.create', ...entryOf(accountId, after), after })
      return after
    }),
  'GET /policies/{policyId}': ({ context, accountId, params: { policyId } }) =>
    createPolicies(context.database).get(accountId, policyId),
  'PATCH /policies/{policyId}': ({ context, caller, accountId, params: { policyId }, body, raw }) =>
    audited(context.database, caller.actor, async ({ trx, record }) => {
      const policies = createPolicies(trx)
      const before = await policies.get(accountId, policyId)
      const after = await policies.update(accountId, policyId, asWritten(body, raw))
      await record({ action: 'policy.update', ...entryOf(accountId, after), before, after })
      return after
    }),
  'DELETE /policies/{policyId}': ({ context, caller, accountId, params: { policyId } }) =>
    audited(context.database, caller.actor, async ({ trx, record }) => {
      const policies = createPolicies(trx)
      const before = await policies.get(accountId, policyId)
      await policies.remove(accountId, policyId)
      await record({ action: 'policy.delete', ...entryOf(accountId, before), before })
      return { done: true }
    }),
})
