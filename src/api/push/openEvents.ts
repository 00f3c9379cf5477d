import { randomUUID } from 'node:crypto'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Hex } from 'viem'
import { eventStream } from '../admin/eventStream.js'
import { selectDialect } from '../dialects/dialect.js'
import type { SocketSubscriptions } from '../methods/method.js'
import type { RouteContext } from '../routeContext.js'
import { answerRpc, type RpcRequest } from '../rpc/answerRpc.js'
import { rpcResponse } from '../rpc/rpcResponse.js'
import type { Services } from '../services.js'
import { encodeNews } from './encodeNews.js'

/** The request for a stream: one of RPC, without a body. */
type EventsRequest = Omit<RpcRequest, 'readBody' | 'subscriptions'>

/** Operations whose ends a client may have missed, in one `Last-Event-ID`. */
const MOST_MISSED = 20
/** The id of an event after which no operation is open. */
const END = 'end'

/**
 * Answers the request for server-sent events with a subscription of eth_subscribe, whose filter is the query, or with
 * its refusal. The id of an event names the operations that had not ended by then: a client that comes back with it
 * gets their news too, though they are live no more.
 */
export async function openEvents(
  c: Context,
  request: EventsRequest,
  services: Services,
  shared: RouteContext,
): Promise<Response> {
  const { userOpHash, sender, until } = c.req.query()
  const lastId = c.req.header('last-event-id')
  // The answer after which a browser does not come back.
  if (userOpHash !== undefined && lastId === END) return c.body(null, 204)
  const begin = await subscribe({ userOpHash, sender, until })
  if (begin instanceof Response) return begin
  const dialect = selectDialect(request.version, request.dialect)
  const missed = userOpHash === undefined ? missedBy(lastId) : []
  const more: Begin[] = []
  for (const hash of missed) {
    const next = await subscribe({ userOpHash: hash })
    if (next instanceof Response) break
    more.push(next)
  }

  async function subscribe(
    filter: Readonly<Record<string, string | undefined>>,
  ): Promise<Begin | Response> {
    let begun: Begin | undefined
    const call = {
      jsonrpc: '2.0',
      id: null,
      method: 'eth_subscribe',
      params: ['userOperation', filter],
    }
    const add: SocketSubscriptions['add'] = (given) => {
      begun = given
      return '0x'
    }
    const answer = await answerRpc(
      {
        ...request,
        caller: { ...request.caller, requestId: randomUUID() },
        readBody: async () => Buffer.from(JSON.stringify(call)),
        subscriptions: { add, remove: () => false },
      },
      services,
      shared,
    )
    return begun ?? rpcResponse(c, answer)
  }

  const stream = eventStream({
    isStillLetIn: async () => (await services.authenticateKey(request.key)) !== undefined,
    cut: () => void (c.env as HttpBindings).outgoing.destroy(),
    begin: ({ send, end }) => {
      const open = new Set<Hex>(missed)
      const report: Listener['report'] = (hash, progress) => {
        if (progress.isDone) open.delete(hash)
        else open.add(hash)
        const id = [...open].slice(-MOST_MISSED).join(',') || END
        const data = JSON.stringify(encodeNews(hash, progress, dialect))
        send(`event: userOperation\nid: ${id}\ndata: ${data}\n\n`)
      }
      const none = { header: () => undefined, end: () => undefined }
      const stops = [
        begin({ ...none, report, end }),
        ...more.map((each) => each({ ...none, report })),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  })
  return c.body(stream, 200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    // Without it, proxies such as nginx gather the events.
    'x-accel-buffering': 'no',
  })
}

type Begin = Parameters<SocketSubscriptions['add']>[0]
type Listener = Parameters<Begin>[0]

function missedBy(lastEventId = ''): Hex[] {
  const hashes = lastEventId.split(',').filter((text) => /^0x[0-9a-f]{64}$/.test(text))
  return [...new Set(hashes)].slice(0, MOST_MISSED) as Hex[]
}
