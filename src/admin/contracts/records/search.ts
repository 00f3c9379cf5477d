import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { listOf } from '../../schemas.js'

const hit = z.object({
  kind: z.string(),
  id: z.string(),
  appId: z.string().nullable(),
  chainId: z.int().nullable(),
})

export const searchContracts = {
  'GET /search': {
    summary: 'What a hash, an address or an id names, of the account',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      q: z
        .string()
        .regex(
          /^(0x[0-9a-fA-F]{64}|0x[0-9a-fA-F]{40}|[0-9a-fA-F-]{36})$/,
          'must be a hash, an address or an id',
        ),
    }),
    answer: listOf(hit),
  },
} as const satisfies Contracts
