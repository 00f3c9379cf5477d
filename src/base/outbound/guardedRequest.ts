import http, { type Agent, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  BlockedAddressError,
  createVettedLookup,
  NameError,
  type NetworkGuard,
  type Resolve,
  resolveBySystem,
} from './networkGuard.js'

/** The result of a request; `attempts` is 0 when the guard refused the URL. */
type OutboundResult = { readonly attempts: number; readonly response: OutboundResponse }

/** The HTTP client for addresses that strangers chose. */
export type OutboundClient = {
  /**
   * Sends a request. `signal` bounds DNS, connection, TLS and response. Failures are data, never
   * thrown.
   */
  request(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResult>
  /** Closes idle connections. */
  close(): void
}

/**
 * Makes the client. The guard sees the URL and every address that it resolves to. No redirect is
 * followed, no proxy or cookie used. Connections are kept for 30 s; a request whose connection
 * failed before anybody handled it is sent once more, on a new connection.
 * @param maxBytes of the longest response that is read
 * @param readsErrors also the body of a response with another status than 2xx
 */
export function createOutboundClient(
  guard: NetworkGuard,
  {
    resolve = resolveBySystem,
    maxBytes = 16_384,
    readsErrors = false,
  }: {
    readonly resolve?: Resolve
    readonly maxBytes?: number
    readonly readsErrors?: boolean
  } = {},
): OutboundClient {
  const lookup = createVettedLookup(guard, resolve)
  // No limit of sockets: a request that waits for one would use up its deadline, and tenants share hosts.
  const connections = { keepAlive: true, timeout: 30_000 }
  const plain = new http.Agent(connections)
  const secure = new https.Agent(connections)

  return {
    async request(request, signal) {
      const refusal = guard.refuseUrl(request.url)
      if (refusal !== undefined) {
        const outcome = 'blocked_address'
        return { attempts: 0, response: { ok: false, outcome, reason: refusal, status: undefined } }
      }
      const agent = request.url.protocol === 'https:' ? secure : plain
      const options = { lookup, signal, maxBytes, readsErrors }
      const first = await exchange(request, { ...options, agent })
      if (!first.isUnhandled) return { attempts: 1, response: first.response }
      const second = await exchange(request, { ...options, agent: false })
      return { attempts: 2, response: second.response }
    },
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

export type OutboundRequest = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** The kind of failure of a request. */
export type OutboundOutcome =
  | 'timeout'
  | 'dns_error'
  | 'connect_error'
  | 'tls_error'
  | 'http_status'
  | 'redirect'
  | 'invalid_response'
  | 'too_large'
  | 'blocked_address'

/** The failure of a request that got no complete 2xx response. */
type OutboundFailure = {
  readonly ok: false
  readonly outcome: OutboundOutcome
  readonly reason: string
  readonly status: number | undefined
  /** The seconds that the other side asks us to wait (Retry-After). */
  readonly retryAfter?: number | undefined
  /** Of a response with another status, where the client reads it. */
  readonly body?: string
}

export type OutboundResponse =
  | {
      readonly ok: true
      readonly status: number
      /** The header Content-Type. */
      readonly type: string
      readonly body: string
    }
  | OutboundFailure

type ExchangeOptions = {
  /** `false`: a connection of its own. */
  readonly agent: Agent | false
  readonly lookup: LookupFunction
  readonly signal: AbortSignal
  /** Bytes of the longest response that is read. */
  readonly maxBytes: number
  readonly readsErrors: boolean
}

/**
 * One HTTP request and its response, never a rejection. `isUnhandled` says that the connection
 * failed before any byte of a response, and in a way which shows that the request was not handled:
 * refused, or closed by the other side while it was idle.
 */
function exchange(
  { url, method, headers, body }: OutboundRequest,
  { agent, lookup, signal, maxBytes, readsErrors }: ExchangeOptions,
): Promise<{ readonly response: OutboundResponse; readonly isUnhandled: boolean }> {
  return new Promise((done) => {
    const resolve: typeof done = (result) => {
      signal.removeEventListener('abort', lose)
      done(result)
    }
    const secure = url.protocol === 'https:'
    let stage: ExchangeStage = 'connection'
    let status: number | undefined
    let hasNoResponse = (): boolean => true

    const outgoing = (secure ? https : http).request(url, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-length': body.length },
      agent,
      lookup,
      signal,
      ...(secure ? { minVersion: 'TLSv1.2', rejectUnauthorized: true } : {}),
    })

    outgoing.on('socket', (socket: Socket) => {
      const before = socket.bytesRead
      hasNoResponse = () => socket.bytesRead === before
      if (outgoing.reusedSocket) {
        stage = 'exchange'
        return
      }
      socket.once('connect', () => {
        stage = secure ? 'TLS handshake' : 'exchange'
      })
      socket.once('secureConnect', () => {
        stage = 'exchange'
      })
    })

    const fail = (error: NodeJS.ErrnoException): void => {
      const wasIdle = outgoing.reusedSocket && error.code === 'ECONNRESET'
      const isRefused = wasIdle || error.code === 'ECONNREFUSED' || error.code === 'EPIPE'
      const failure = signal.aborted ? timeout : explain(error, stage)
      resolve({
        response: { ok: false, ...failure, status },
        isUnhandled: !signal.aborted && isRefused && hasNoResponse(),
      })
    }
    const lose = (): void => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    // Node's own listener does nothing for a request that is destroyed already.
    signal.addEventListener('abort', lose)
    outgoing.on('error', fail)
    // A response ends by itself, also after this event.
    outgoing.on('close', () => status === undefined && lose())
    outgoing.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
      socket.destroy()
      status = incoming.statusCode ?? 0
      resolve({ response: { ok: false, ...switched, status }, isUnhandled: false })
    })

    outgoing.on('response', (incoming: IncomingMessage) => {
      status = incoming.statusCode ?? 0
      const settle = (response: OutboundResponse): void => resolve({ response, isUnhandled: false })
      const refuse = (failure: Cause): void => {
        incoming.destroy()
        settle({ ok: false, ...failure, status, retryAfter: secondsOf(incoming) })
      }
      const refusal = refuseStatus(status)
      if (refusal !== undefined && !readsErrors) return refuse(refusal)
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        size += chunk.length
        if (size > maxBytes) refuse(tooLarge(maxBytes))
      })
      incoming.on('end', () => {
        const { statusCode = 0, headers: answered } = incoming
        const body = Buffer.concat(chunks).toString()
        if (refusal !== undefined) settle({ ok: false, ...refusal, status: statusCode, body })
        else settle({ ok: true, status: statusCode, type: answered['content-type'] ?? '', body })
      })
      incoming.on('error', fail)
      incoming.on('close', lose)
    })

    outgoing.end(body)
  })
}

/** The seconds of the header Retry-After, which holds seconds or a date. */
function secondsOf({ headers }: IncomingMessage): number | undefined {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

type ExchangeStage = 'connection' | 'TLS handshake' | 'exchange'

type Cause = Pick<OutboundFailure, 'outcome' | 'reason'>

const timeout: Cause = {
  outcome: 'timeout',
  reason: 'no complete answer within the time limit.',
}

const switched: Cause = {
  outcome: 'invalid_response',
  reason: 'the answer asks for another protocol.',
}

function tooLarge(maxBytes: number): Cause {
  return { outcome: 'too_large', reason: `the answer is longer than ${maxBytes} bytes.` }
}

/**
 * The failure that an error means. Only the error's code is shown: its text may hold addresses of
 * our network.
 */
function explain(error: NodeJS.ErrnoException, stage: ExchangeStage): Cause {
  if (error instanceof BlockedAddressError) {
    return { outcome: 'blocked_address', reason: error.message }
  }
  if (error instanceof NameError) return { outcome: 'dns_error', reason: error.message }
  const code = error.code ?? error.name
  if (code.startsWith('HPE_')) {
    return { outcome: 'invalid_response', reason: `the answer is not HTTP (${code}).` }
  }
  const outcome = stage === 'TLS handshake' ? 'tls_error' : 'connect_error'
  return { outcome, reason: `the ${stage} failed (${code}).` }
}

function refuseStatus(status: number): Cause | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status >= 300 && status < 400) {
    return { outcome: 'redirect', reason: `HTTP status ${status}; redirects are not followed.` }
  }
  return { outcome: 'http_status', reason: `HTTP status ${status}; 200 is expected.` }
}
