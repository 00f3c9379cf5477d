import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { appParams, chainId, name, wei } from '../schemas.js'

const params = appParams.extend({ chainId })

/** What an app pays with on a chain. Amounts in wei. */
const fundState = z.object({
  mode: z.enum(['tank', 'shared', 'native']),
  credit: z.object({
    /** Credited and not spent; `locked` of it is reserved. */
    balance: wei,
    locked: wei,
    available: wei,
  }),
})

/** Credit is the operator's money, and the mode says whose money is spent: both are the operator's to set. */
export const fundContracts = {
  'PATCH /apps/{appId}/funds/{chainId}/mode': {
    summary: "What pays for an app's operations from the next sponsorship on",
    who: 'operator',
    params,
    body: z.strictObject({ mode: fundState.shape.mode }),
    answer: fundState,
  },
  'POST /apps/{appId}/funds/{chainId}/credit': {
    summary: 'Give an app credit, or take back (negative) what is free; a reference counts once',
    who: 'operator',
    params,
    body: z.strictObject({
      wei: z
        .string()
        .regex(/^-?[1-9]\d{0,29}$/, 'must be wei as a decimal number, negative to take'),
      reference: name,
    }),
    answer: fundState,
  },
} as const satisfies Contracts
