import { z } from 'zod'
import { createPolicies } from '../../../../policy/managePolicies.js'
import { id, listOf } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

/** In the unit: wei, millionths of a USD, or operations. */
const amount = z.string()

export const budgetRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/policies/{policyId}/budgets',
    summary: 'What is used of each budget of a policy now, and by whom',
    who: 'account',
    role: 'viewer',
    params: z.object({ policyId: id }),
    answer: listOf(
      z.object({
        per: z.enum(['sender', 'app', 'account']),
        unit: z.enum(['wei', 'usd', 'count']),
        window: z.string(),
        limit: amount,
        /** Unix seconds; 0 = the window has no beginning. */
        since: z.int(),
        /** The ten that used most: reserved or settled, and of that settled. */
        subjects: z.array(z.object({ subject: z.string(), used: amount, settled: amount })),
      }),
    ),
    run: async ({ context: { database }, accountId, params: { policyId } }) => ({
      items: await createPolicies(database).budgets(accountId, policyId),
    }),
  }),
]
