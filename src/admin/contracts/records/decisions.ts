import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { explanation, id, pageOf, wei } from '../../schemas.js'
import { decision, decisionQuery, webhookCall } from '../decisions.js'

/** What became of the amount that was reserved; `none` where nothing was. */
const fate = z.enum(['none', 'open', 'included', 'expired', 'settled', 'released', 'other'])

const entry = decision.extend({
  appId: id,
  /** `other`: an operation that was not sponsored by it took the nonce. */
  fate,
  /** wei; null while its operation is not included. */
  actualCost: wei.nullable(),
})

/** Decisions of all apps of an account. */
export const decisionRecordContracts = {
  'GET /decisions': {
    summary: 'Sponsorships that were given or refused, with their fate and cost, newest first',
    who: 'either',
    role: 'viewer',
    query: decisionQuery.extend({ appId: id.optional() }),
    answer: pageOf(entry),
  },
  'GET /decisions/{decisionId}': {
    summary: 'One decision: who said what, what became of it, and what to do',
    who: 'either',
    role: 'viewer',
    params: z.object({ decisionId: id }),
    answer: entry.extend({
      webhookCalls: z.array(webhookCall),
      explanation: explanation.nullable(),
    }),
  },
} as const satisfies Contracts
