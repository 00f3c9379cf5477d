import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { appParams, id, pageOf, pageQuery, time } from '../schemas.js'

const params = appParams.extend({ webhookId: id })

const result = z.object({
  outcome: z.string(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  durationMs: z.number(),
  startedAt: time,
})

/** Each process has a circuit of its own; the newest change of any of them counts. */
const circuit = z.enum(['open', 'closed'])

/** The calls of a webhook with their outcomes, and its circuit. */
export const webhookCallContracts = {
  'POST /apps/{appId}/webhooks/{webhookId}/test': {
    summary: 'Call the webhook once with {"purserTest": true}; decides and keeps nothing',
    who: 'account',
    role: 'developer',
    params,
    answer: result.extend({
      /** As it was sent, to the byte: `body` and, of a GET, the query of `url` are what is signed. */
      request: z.object({
        method: z.enum(['GET', 'POST']),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        body: z.string().nullable(),
      }),
    }),
  },
  'GET /apps/{appId}/webhooks/{webhookId}/calls': {
    summary: 'The calls that sponsorships made, newest first',
    who: 'account',
    role: 'viewer',
    params,
    query: pageQuery,
    answer: pageOf(result.extend({ id: z.string(), decisionId: id })),
  },
  'GET /apps/{appId}/webhooks/{webhookId}/circuit': {
    summary: 'Whether the webhook is left alone because it fails, and the newest changes of that',
    who: 'account',
    role: 'viewer',
    params,
    answer: z.object({ state: circuit, changes: z.array(z.object({ at: time, state: circuit })) }),
  },
} as const satisfies Contracts
