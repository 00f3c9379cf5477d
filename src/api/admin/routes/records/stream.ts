import { contracts } from '../../../../admin/contracts.js'
import type { FeedMessage } from '../../../../records/createFeeds.js'
import { eventStream } from '../../eventStream.js'
import { type Route, serve } from '../../route.js'

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
