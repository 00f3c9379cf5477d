import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { id, listOf } from '../../schemas.js'

/** In the unit: wei, millionths of a USD, or operations. */
const amount = z.string()

export const budgetContracts = {
  'GET /policies/{policyId}/budgets': {
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
        /** Unix seconds: when the window begins anew; null = it moves, or never ends. */
        until: z.int().nullable(),
        /** The ten that used most: reserved or settled, and of that settled. */
        subjects: z.array(z.object({ subject: z.string(), used: amount, settled: amount })),
      }),
    ),
  },
} as const satisfies Contracts
