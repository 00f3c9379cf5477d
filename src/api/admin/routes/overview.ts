import type { Address, Hex } from 'viem'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import type { FeedMessage } from '../../../records/createFeeds.js'
import { search } from '../../../records/search.js'
import { contracts } from '../../contracts/contracts.js'
import { eventStream } from '../eventStream.js'
import { type Route, serve } from '../route.js'

const DAY = 86_400_000

const LONGEST = 31 * DAY

const MOST_BUCKETS = 180

const HOUR = 3_600_000

export const overviewRoutes: readonly Route[] = serve(contracts.overview)({
  async 'GET /overview'({ context, caller, query }) {
    const until = query.until === undefined ? new Date() : new Date(query.until)
    const from = query.from === undefined ? new Date(until.getTime() - HOUR) : new Date(query.from)
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
    const { operations, inclusionSeconds, spend, refusals, refused } = found
    const sum = (name: 'received' | 'included' | 'reverted' | 'dropped' | 'others' | 'replaced') =>
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
    const buckets = operations.map(({ replaced: _, ...bucket }) => bucket)
    return { from, until, step, totals, operations: buckets, inclusionSeconds, spend, refusals }
  },
})

/** A time of a query as a Date. */
export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

/** An address or a hash as the database has it. */
export function lower<Text extends Address | Hex = Address>(
  text: string | undefined,
): Text | undefined {
  return text?.toLowerCase() as Text | undefined
}

export const searchRoutes: readonly Route[] = serve(contracts.search)({
  async 'GET /search'({ context, caller, query: { q } }) {
    const { database, chains } = context
    const hits = await search(database, caller.accountId, [...chains.keys()], q)
    return {
      items: hits.map((each) => ({
        ...each,
        chainId: each.chainId === null ? null : Number(each.chainId),
      })),
    }
  },
})

export const streamRoutes: readonly Route[] = serve(contracts.stream)({
  async 'GET /apps/{appId}/stream'({
    context,
    accountId,
    app,
    connection: { lastEventId, isStillLetIn, cut },
  }) {
    const since = /^\d{1,15}$/.test(lastEventId ?? '') ? Number(lastEventId) : undefined
    const query = { accountId, appId: app.id, since }
    return eventStream({
      isStillLetIn,
      cut,
      begin: ({ send, end }) =>
        context.feeds.watch(query, { send: (message) => send(eventOf(message)), end }),
    })
  },
})

function eventOf({ id, items, more }: FeedMessage): string {
  const data = {
    items: items.map(({ chainId, hash: userOpHash, state }) => ({
      chainId: Number(chainId),
      userOpHash,
      state,
    })),
    more,
  }
  return `event: changes\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
}
