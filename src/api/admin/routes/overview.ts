import { z } from 'zod'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import { listNeeds, need } from '../../../records/attention.js'
import { feedChanges } from '../../../records/createFeeds.js'
import { overview } from '../../../records/overview.js'
import { hit, search } from '../../../records/search.js'
import { MOST_SPEND_LINES, readSpend, spendOfDay } from '../../../records/spend.js'
import { chainId, date, id, listOf, time } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'
import { eventStream } from '../eventStream.js'

const MOST_BUCKETS = 180

const HOUR = 3_600_000

/** The milliseconds of a span. Throws InvalidFieldError where it ends before it begins, or has more than `days`. */
export function requireSpan(from: Date, until: Date, days: number): number {
  const span = until.getTime() - from.getTime()
  if (span <= 0 || span > days * 24 * HOUR)
    throw new InvalidFieldError('from', `must be before \`until\`, at most ${days} days`)
  return span
}

/** What happened within a time, for people who ask what is going on. */
export const overviewRoutes = [
  route('GET /overview', {
    summary: 'Operations by outcome, spend by app and refusals by code in steps of time',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      from: date.optional(),
      until: date.optional(),
      /** Seconds of one step. */
      step: z.coerce.number<number>().int().min(1).max(2_678_400).optional(),
      appId: id.optional(),
      chainId: chainId.optional(),
    }),
    answer: overview,
    async run({ context, caller, query }) {
      const { until = new Date(), from = new Date(until.getTime() - HOUR) } = query
      const span = requireSpan(from, until, 31)
      const { step = Math.max(1, Math.ceil(span / 1_000 / 60)) } = query
      if (span / 1_000 / step > MOST_BUCKETS)
        throw new InvalidFieldError('step', `must make at most ${MOST_BUCKETS} steps`)
      const chainIds = query.chainId === undefined ? [...context.chainIds()] : [query.chainId]
      const { accountId } = caller
      const { appId } = query
      const found = await context.overview({ accountId, appId, chainIds, from, until, step })
      const { operations, refused, ...rest } = found
      const sum = (name: Exclude<keyof (typeof operations)[number], 'at'>) =>
        operations.reduce((total, bucket) => total + bucket[name], 0n)
      const [received, included, reverted, dropped, replaced] = [
        sum('received'),
        sum('included'),
        sum('reverted'),
        sum('dropped'),
        sum('replaced'),
      ]
      const ended = included + dropped
      const totals = {
        received,
        included,
        reverted,
        dropped,
        replaced,
        inFlight: sum('others') - replaced,
        refused: refused.requests,
        notSponsored: refused.sponsorships,
        success: ended === 0n ? null : Number(included - reverted) / Number(ended),
        receivedPerSecond: Number(received) / (span / 1_000),
        includedPerSecond: Number(included) / (span / 1_000),
      }
      return { ...rest, from, until, step, totals, operations }
    },
  }),
]

/** What only a person can put right. */
export const attentionRoutes = [
  route('GET /attention', {
    summary: 'Low tanks and credit, webhooks and subscriptions that fail, of the account or of all',
    who: 'either',
    role: 'viewer',
    answer: listOf(need),
    run: ({ context, caller }) => listNeeds(context.database, caller.accountId),
  }),
]

/** Money for those who book it. */
export const spendRoutes = [
  route('GET /spend', {
    summary: 'What sponsorships cost, by day (UTC), app, chain and policy, at most 366 days',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({ from: date, until: date }),
    answer: listOf(spendOfDay).extend({
      /** Older records of sponsorships were deleted: their cost is not in the sums. */
      keptSince: time,
    }),
    async run({ context, caller, query: { from, until } }) {
      requireSpan(from, until, 366)
      const { accountId } = caller
      const items = await readSpend(context.database, { accountId, from, until })
      if (items.length > MOST_SPEND_LINES)
        throw new InvalidFieldError('from', 'makes too long an answer: ask for fewer days')
      return { items, keptSince: context.keptSince() }
    },
  }),
]

export const searchRoutes = [
  route('GET /search', {
    summary: 'Find by hash, address, prefix, id or part of a name in the account',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({
      q: z.string().trim().min(2).max(100),
    }),
    answer: listOf(hit),
    run: ({ context, caller, query: { q } }) =>
      search(context.database, caller.accountId, [...context.chainIds()], q),
  }),
]

export const streamRoutes = [
  route('GET /apps/{appId}/stream', {
    summary: 'Server-sent events: operations of the app whose state changed, once a second at most',
    role: 'viewer',
    format: 'events',
    /** The data of the event `changes`. */
    answer: feedChanges,
    async run({ context, accountId, app, connection: { lastEventId, isStillLetIn, cut } }) {
      const since = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : undefined
      const query = { accountId, appId: app.id, since }
      return eventStream({
        isStillLetIn,
        cut,
        begin: ({ send, end }) =>
          context.feeds.watch(query, {
            send: (changes, at) =>
              send(`event: changes\nid: ${at}\ndata: ${JSON.stringify(changes)}\n\n`),
            end,
          }),
      })
    },
  }),
]
