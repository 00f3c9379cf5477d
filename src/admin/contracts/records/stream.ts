import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { appParams, hash } from '../../schemas.js'

export const streamContracts = {
  'GET /apps/{appId}/stream': {
    summary: 'Server-sent events: operations of the app whose state changed, once a second at most',
    who: 'account',
    role: 'viewer',
    format: 'events',
    params: appParams,
    /** The data of the event `changes`. */
    answer: z.object({
      items: z.array(
        z.object({
          chainId: z.int(),
          userOpHash: hash,
          state: z.enum(['pooled', 'bundled', 'included', 'dropped', 'replaced']),
        }),
      ),
      more: z.boolean(),
    }),
  },
} as const satisfies Contracts
