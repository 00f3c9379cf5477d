import http from 'node:http'
import https from 'node:https'
import { exchange, type OutboundRequest, type OutboundResponse } from './exchange.js'
import type { NetworkGuard } from './networkGuard.js'
import { createVettedLookup, type Resolve, resolveBySystem } from './vettedLookup.js'

/** The result of a request; `attempts` is 0 when the guard refused the URL. */
export type OutboundResult = { readonly attempts: number; readonly response: OutboundResponse }

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
 */
export function createOutboundClient(
  guard: NetworkGuard,
  {
    resolve = resolveBySystem,
    maxBytes = 16_384,
  }: { readonly resolve?: Resolve; readonly maxBytes?: number } = {},
): OutboundClient {
  const lookup = createVettedLookup(guard, resolve)
  const connections = { keepAlive: true, maxSockets: 20, timeout: 30_000 }
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
      const first = await exchange(request, { agent, lookup, signal, maxBytes })
      if (!first.isUnhandled) return { attempts: 1, response: first.response }
      const second = await exchange(request, { agent: false, lookup, signal, maxBytes })
      return { attempts: 2, response: second.response }
    },
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}
