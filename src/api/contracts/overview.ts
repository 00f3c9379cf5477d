import { z } from 'zod'
import type { Contracts } from './contract.js'
import { appParams, chainId, hash, id, listOf, time, wei } from './schemas.js'

const count = z.string()

/** What happened within a time, for people who ask what is going on. */
export const overviewContracts = {
  'GET /overview': {
    summary: 'Operations by outcome, spend by app and refusals by code in steps of time',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      from: time.optional(),
      until: time.optional(),
      /** Seconds of one step. */
      step: z.coerce.number<number>().int().min(1).max(2_678_400).optional(),
      appId: id.optional(),
      chainId: chainId.optional(),
    }),
    answer: z.object({
      from: time,
      until: time,
      step: z.int(),
      operations: z.array(
        z.object({
          at: time,
          received: count,
          included: count,
          reverted: count,
          dropped: count,
          others: count,
        }),
      ),
      totals: z.object({
        received: count,
        included: count,
        reverted: count,
        dropped: count,
        replaced: count,
        inFlight: count,
        /** Requests that were answered with an error. */
        refused: count,
        /** Decisions against a sponsorship. */
        notSponsored: count,
        /** Of those that ended: the share that was included and did not revert; null without any. */
        success: z.number().nullable(),
        receivedPerSecond: z.number(),
        includedPerSecond: z.number(),
      }),
      inclusionSeconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
      spend: z.array(z.object({ at: time, appId: id, wei })),
      refusals: z.array(z.object({ code: z.string(), count })),
    }),
  },
} as const satisfies Contracts

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
