import { z } from 'zod'
import { InvalidFieldError } from '../../../../errors/restErrors.js'
import { id, time, wei } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'
import { chainId } from './period.js'

const DAY = 86_400_000
const LONGEST = 31 * DAY
const MOST_BUCKETS = 180
const HOUR = 3_600_000

const count = z.string()

/** What happened within a time, for people who ask what is going on. */
export const overviewRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/overview',
    summary: 'Operations by outcome, spend by app and refusals by code in steps of time',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      from: time.optional(),
      until: time.optional(),
      /** Seconds of one step. */
      step: z.coerce.number().int().min(1).max(2_678_400).optional(),
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
        /** Of those that ended: the share that was included and did not revert; null without any. */
        success: z.number().nullable(),
        receivedPerSecond: z.number(),
        includedPerSecond: z.number(),
      }),
      inclusionSeconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
      spend: z.array(z.object({ at: time, appId: id, wei })),
      refusals: z.array(z.object({ code: z.string(), count })),
    }),
    async run({ context, caller, query }) {
      const until = query.until === undefined ? new Date() : new Date(query.until)
      const from =
        query.from === undefined ? new Date(until.getTime() - HOUR) : new Date(query.from)
      const span = until.getTime() - from.getTime()
      if (span <= 0 || span > LONGEST)
        throw new InvalidFieldError('from', 'must be before `until`, at most 31 days')
      const { step = Math.max(1, Math.ceil(span / 1_000 / 60)) } = query
      if (span / 1_000 / step > MOST_BUCKETS)
        throw new InvalidFieldError('step', `must make at most ${MOST_BUCKETS} steps`)
      const chainIds = query.chainId === undefined ? [...context.chains.keys()] : [query.chainId]
      const { accountId } = caller
      const { appId } = query
      const found = await context.overview({ accountId, appId, chainIds, from, until, step })
      const sum = (name: 'received' | 'included' | 'reverted' | 'dropped') =>
        found.operations.reduce((total, bucket) => total + bucket[name], 0n)
      const [received, included, reverted, dropped] = [
        sum('received'),
        sum('included'),
        sum('reverted'),
        sum('dropped'),
      ]
      const ended = included + dropped
      const totals = {
        received,
        included,
        reverted,
        dropped,
        success: ended === 0n ? null : Number(included - reverted) / Number(ended),
        receivedPerSecond: Number(received) / (span / 1_000),
        includedPerSecond: Number(included) / (span / 1_000),
      }
      return { from, until, step, totals, ...found }
    },
  }),
]
