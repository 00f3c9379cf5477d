import { randomBytes, randomUUID } from 'node:crypto'
import { upgradeWebSocket } from '@hono/node-server'
import type { Context } from 'hono'
import { WebSocket, WebSocketServer } from 'ws'
import type { Hex } from 'viem'
import { type Dialect, selectDialect } from '../dialects/dialect.js'
import type { SocketSubscriptions } from '../methods/method.js'
import { asPurserError, restError } from '../restError.js'
import type { RouteContext } from '../routeContext.js'
import { answerRpc, identify, type RpcRequest } from '../rpc/answerRpc.js'
import type { Services } from '../services.js'
import { encodeNews } from './encodeNews.js'

/** Milliseconds between two pings; a client that has not answered the one before is gone. */
const HEARTBEAT = 30_000
/** Requests of one socket that are under way, and their bytes; then no more is read until some have their answer. */
const MOST_REQUESTS = 1_000
const MOST_REQUEST_BYTES = 8 * 1024 * 1024
/** Bytes that wait for a client that reads slowly; then its connection is cut. */
const MOST_UNREAD = 4 * 1024 * 1024

const POLICY_VIOLATION = 1008
const GOING_AWAY = 1001
const TRY_AGAIN_LATER = 1013

/** The request that opens a socket: one of RPC, without a body. */
type SocketRequest = Omit<RpcRequest, 'readBody' | 'onClose' | 'subscriptions'>

/** The receiver of all sockets; messages are not compressed, which would take 300 kB of memory for each socket. */
export function createSocketServer(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false })
}

/** Ends all sockets; their clients come back to another process. */
export function closeSockets(server: WebSocketServer): void {
  for (const socket of server.clients) socket.close(GOING_AWAY, 'the service stops')
}

/** Answers the request for a WebSocket: with one, on which every method is served, or with the refusal of its key. */
export async function openSocket(
  c: Context,
  request: SocketRequest,
  services: Services,
  shared: RouteContext,
): Promise<Response> {
  try {
    const dialect = selectDialect(request.version, request.dialect)
    shared.gate.enter(request.caller.ip)
    const { keyId } = await identify(request, services, shared.gate)
    let hear: ((body: Buffer) => void) | undefined
    return await upgradeWebSocket(c, {
      onOpen: (_, { raw }) => {
        hear = serveSocket(raw as WebSocket, { request, dialect, keyId }, services, shared)
      },
      onMessage: ({ data }) => hear?.(Buffer.from(data as string)),
    })
  } catch (thrown) {
    return restError(c, thrown, shared)
  }
}

type Opened = {
  readonly request: SocketRequest
  readonly dialect: Dialect
  readonly keyId: string
}

/** Serves a socket to its end; the function takes a message. */
function serveSocket(
  socket: WebSocket,
  { request, dialect, keyId }: Opened,
  services: Services,
  shared: RouteContext,
): (body: Buffer) => void {
  const closers = new Set<() => void>()
  const subscriptions = new Map<string, () => void>()
  let requests = 0
  let bytes = 0
  const servedChain = () => services.chains.get(Number(request.chainId))
  /** The chain that reports to the first subscription. A reload of the configuration puts another one in its place. */
  let reporter: ReturnType<typeof servedChain>

  function send(body: string): void {
    if (socket.readyState !== WebSocket.OPEN) return
    if (socket.bufferedAmount > MOST_UNREAD) socket.terminate()
    else socket.send(body)
  }

  /** Begins after the answer with its id was sent, which a client must have before the first news. */
  function subscribe(id: Hex, begin: Parameters<SocketSubscriptions['add']>[0]): void {
    const notify = (result: unknown): void => {
      const params = { subscription: id, result }
      send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }))
    }
    reporter ??= servedChain()
    const stop = begin({
      report: (userOpHash, progress) => notify(encodeNews(userOpHash, progress, dialect)),
      header: notify,
      end: () => subscriptions.delete(id),
    })
    if (socket.readyState === WebSocket.CLOSED) stop()
    else subscriptions.set(id, stop)
  }

  async function answer(body: Buffer): Promise<void> {
    const begun: (() => void)[] = []
    const { body: answered } = await answerRpc(
      {
        ...request,
        caller: { ...request.caller, requestId: randomUUID() },
        readBody: async () => body,
        onClose: (hearClose) => {
          if (socket.readyState === WebSocket.CLOSED) queueMicrotask(hearClose)
          else closers.add(hearClose)
          return () => closers.delete(hearClose)
        },
        subscriptions: {
          add: (begin) => {
            const id: Hex = `0x${randomBytes(16).toString('hex')}`
            begun.push(() => subscribe(id, begin))
            return id
          },
          remove: (id) => {
            subscriptions.get(id)?.()
            return subscriptions.delete(id)
          },
        },
      },
      services,
      shared,
    )
    if (answered !== undefined) send(answered)
    for (const begin of begun) begin()
  }

  function hear(body: Buffer): void {
    requests += 1
    bytes += body.length
    if (requests >= MOST_REQUESTS || bytes >= MOST_REQUEST_BYTES) socket.pause()
    answer(body)
      .catch((error) => asPurserError(error, shared.logger))
      .finally(() => {
        requests -= 1
        bytes -= body.length
        if (socket.isPaused) socket.resume()
      })
  }

  const stopBeats = keepAlive(socket, {
    findKey: () => services.authenticateKey(request.key),
    isReporting: () => reporter === undefined || reporter === servedChain(),
  })
  socket.on('error', () => socket.terminate())
  socket.once('close', () => {
    stopBeats()
    for (const stop of subscriptions.values()) stop()
    for (const close of closers) close()
  })
  try {
    socket.once('close', shared.gate.wait(keyId))
  } catch (thrown) {
    const { message } = asPurserError(thrown, shared.logger)
    socket.close(TRY_AGAIN_LATER, message.slice(0, 120))
  }
  return hear
}

type Kept = { readonly findKey: () => Promise<unknown>; readonly isReporting: () => boolean }

/** Pings the client, and closes when its key was revoked, or nothing reports to it any more; the function ends that. */
function keepAlive(socket: WebSocket, { findKey, isReporting }: Kept): () => void {
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate()
    if (!isReporting()) return socket.close(GOING_AWAY, 'the chain was reloaded: subscribe again')
    isAlive = false
    socket.ping()
    findKey().then(
      (owner) => owner ?? socket.close(POLICY_VIOLATION, 'the API key is not valid any more'),
      // The database is away: the next beat asks again.
      () => undefined,
    )
  }, HEARTBEAT)
  return () => clearInterval(timer)
}
