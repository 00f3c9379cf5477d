import { contracts } from '../../../../admin/contracts.js'
import { createPolicies } from '../../../../policy/managePolicies.js'
import { type Route, serve } from '../../route.js'

export const budgetRoutes: readonly Route[] = serve(contracts.budget)({
  'GET /policies/{policyId}/budgets': async ({
    context: { database },
    accountId,
    params: { policyId },
  }) => ({
    items: await createPolicies(database).budgets(accountId, policyId),
  }),
})
