import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { chainId, hash } from '../../schemas.js'

export const cancelContracts = {
  'POST /operations/{chainId}/{userOpHash}/cancel': {
    summary: 'Take back an operation that is in no signed bundle yet',
    who: 'either',
    role: 'developer',
    params: z.object({ chainId, userOpHash: hash }),
    body: z.strictObject({}),
    answer: z.object({
      state: z.literal('dropped'),
      code: z.literal('CANCELLED'),
      meaning: z.string(),
    }),
  },
} as const satisfies Contracts
