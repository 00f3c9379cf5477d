import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { address, appParams, explanation } from '../../schemas.js'

/** Operations as they are sent, or as a record has them: pasted from a log, a wallet or a refusal. */
export const simulateContracts = {
  'POST /apps/{appId}/simulate': {
    summary: 'Whether a signed operation would be taken now, and why not; keeps nothing',
    who: 'account',
    role: 'developer',
    params: appParams,
    body: z.strictObject({
      chainId: z.int().positive(),
      entryPoint: address,
      operation: z.record(z.string(), z.unknown()),
      /** Also run its call, and refuse it where that reverts. */
      execution: z.boolean().default(true),
    }),
    answer: z.object({
      accepted: z.boolean(),
      userOpHash: z.string().nullable(),
      /** The JSON-RPC error that sending it would give; null where it would be taken. */
      code: z.int().nullable(),
      rule: z.string().nullable(),
      message: z.string(),
      explanation: explanation.nullable(),
    }),
  },
} as const satisfies Contracts
