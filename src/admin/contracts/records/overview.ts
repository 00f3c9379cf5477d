import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { chainId, id, time, wei } from '../../schemas.js'

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
