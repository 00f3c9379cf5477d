import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { WebSocketServer } from 'ws'
import { ListenError } from '../base/errors/processErrors.js'
import { type AppOptions, createApp } from './createApp.js'
import { closeSockets, createSocketServer } from './push/openSocket.js'
import type { ApiLimits } from './routeContext.js'

/** The server of `ws` as the adaptor describes it, which the types of `ws` do not fit. */
type SocketServer = NonNullable<Parameters<typeof createAdaptorServer>[0]['websocket']>['server']

type ApiOptions = AppOptions & {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
}

export type Api = {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string
  /** From now on each answer asks its client to use another connection next time. */
  drain(): void
  /** Stops accepting, lets running requests finish within `closeTimeout`, closes every socket. */
  close(): Promise<void>
}

/** Serves the interface over HTTP. Throws ListenError when the address cannot be had. */
export async function startApi(options: ApiOptions): Promise<Api> {
  const { host, port, limits } = options
  const app = createApp(options)
  const sockets = createSocketServer(limits.bodyBytes)
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: host,
    websocket: { server: sockets as unknown as SocketServer },
    serverOptions: {
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      maxHeaderSize: 16 * 1024,
    },
  }) as Server
  closeSocketsOfLastAnswers(server)
  boundPipelines(server)
  boundUnreadAnswers(server, limits)
  let draining = false
  server.on('request', (_, outgoing) => {
    if (draining) outgoing.shouldKeepAlive = false
  })
  await listen(server, host, port)
  return {
    url: urlOf(server.address() as AddressInfo),
    drain: () => {
      draining = true
      closeSockets(sockets)
    },
    close: async () => {
      closeSockets(sockets)
      await close(server, limits, sockets)
    },
  }
}

async function listen(server: NetServer, host: string, port: number): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new ListenError(host, port, error as NodeJS.ErrnoException)
  }
}

/**
 * Throws ListenError when the address cannot be had: before a database and chains are started for a service
 * that could not be reached.
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return
  const probe = createServer()
  await listen(probe, host, port)
  probe.close()
  await once(probe, 'close')
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function close(server: Server, limits: ApiLimits, sockets: WebSocketServer): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  const timer = setTimeout(() => {
    server.closeAllConnections()
    for (const socket of sockets.clients) socket.terminate()
  }, limits.closeTimeout)
  await closed
  clearTimeout(timer)
}

/** Requests of one connection that are under way at once: clients send the next one when they have the answer. */
const MOST_PIPELINED = 16

/**
 * Closes a connection that sends more requests than that before it has their answers: Node begins all that arrive in
 * one piece, and they would come before everybody else's.
 */
function boundPipelines(server: Server): void {
  const underWay = new WeakMap<Socket, number>()
  server.on('request', ({ socket }, outgoing) => {
    const count = (underWay.get(socket) ?? 0) + 1
    underWay.set(socket, count)
    outgoing.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    if (count > MOST_PIPELINED) socket.destroy()
  })
}

/**
 * Node keeps complete answers in memory until they are read. Closes a connection that reads nothing of one for `answerTimeout`;
 * above `unreadBytes` in all, the connection with most. Streams count from their end.
 */
function boundUnreadAnswers(server: Server, { answerTimeout, unreadBytes }: ApiLimits): void {
  /** Bytes by connection, of those that have any. */
  const unreadOf = new Map<Socket, number>()
  let unread = 0
  const count = (socket: Socket, bytes: number): void => {
    if (socket.destroyed) return
    set(socket, (unreadOf.get(socket) ?? 0) + bytes)
    while (unread > unreadBytes) {
      const [largest] = [...unreadOf].reduce((one, other) => (other[1] > one[1] ? other : one))
      set(largest, 0)
      largest.destroy()
    }
  }
  const set = (socket: Socket, bytes: number): void => {
    unread += bytes - (unreadOf.get(socket) ?? 0)
    if (bytes > 0) unreadOf.set(socket, bytes)
    else unreadOf.delete(socket)
  }
  server.on('connection', (socket) => {
    socket.once('close', () => set(socket, 0))
  })
  server.on('request', ({ socket }, outgoing) => {
    // 'prefinish' of a pipelined answer comes with its turn; its bytes are in memory from `end` on.
    const end = outgoing.end.bind(outgoing)
    outgoing.end = (chunk?: unknown, encoding?: unknown, callback?: () => void) => {
      end(chunk, encoding as BufferEncoding, callback)
      const bytes = outgoing.writableLength
      if (bytes > 0) {
        outgoing.once('finish', () => count(socket, -bytes))
        count(socket, bytes)
      }
      return outgoing
    }
    outgoing.once('prefinish', () => {
      if (socket.writableLength === 0) return
      // Each byte that the client reads restarts this timeout. After the answer, Node's timeout for idle connections applies.
      socket.setTimeout(answerTimeout)
      outgoing.prependOnceListener('finish', () => socket.setTimeout(0))
    })
  })
}

/**
 * Node closes idle sockets when `close` is called. Those then in use must follow when answer and
 * request are both through, in whichever order: a refused body may still be arriving.
 */
function closeSocketsOfLastAnswers(server: Server): void {
  server.on('request', (incoming, outgoing) => {
    const closeIdle = (): void => {
      if (!server.listening) server.closeIdleConnections()
    }
    incoming.once('close', closeIdle)
    outgoing.once('close', closeIdle)
  })
}
