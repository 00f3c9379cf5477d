import type { Logger } from 'pino'
import type { MetricsPage } from '../telemetry/createMetrics.js'
import type { Gate, GateLimits } from './gate/createGate.js'

/** The parts of the API that all its routes share. */
export type RouteContext = {
  readonly limits: ApiLimits
  readonly gate: Gate
  readonly metrics: MetricsPage
  readonly logger: Logger
}

/** Limits of one request before anything is done for it, and of all requests together. */
export type ApiLimits = {
  readonly bodyBytes: number
  readonly jsonDepth: number
  readonly batchLength: number
  /** Milliseconds to receive the headers, and to receive the whole request. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** Milliseconds after which a client that reads nothing of a complete answer is cut, and bytes of unread answers in all. */
  readonly answerTimeout: number
  readonly unreadBytes: number
  /** Milliseconds that running requests are given when the server closes. */
  readonly closeTimeout: number
  readonly gate: GateLimits
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
}

/** Units per second of one sender with one API key. */
const SENDER_RATE = 100
/** Operations that are simulated at the same time, of one key and in all. */
const SIMULATIONS_PER_KEY = 256
const SIMULATIONS = 1_024
/** Sockets, and requests and subscriptions that wait for operations, of one key and in all. */
const WAITS_PER_KEY = 10_000
const WAITS = 20_000

/** The limits that operators choose: units per second of a key, requests per second of an IP address; 0 = no limit. */
type ChosenLimits = {
  readonly keyRate: number
  readonly ipRate: number
  readonly trustedProxies: readonly string[]
}

/**
 * The limits of one of `processes` that share a listener: together they let through as much as one would alone. Where keys have
 * no limit, their senders have none.
 */
export function limitsOf(
  { keyRate, ipRate, trustedProxies }: ChosenLimits,
  processes: number,
): ApiLimits {
  const rate = (inAll: number, seconds: number) => {
    const perSecond = inAll / processes
    return { perSecond, burst: perSecond * seconds }
  }
  return {
    bodyBytes: 1024 * 1024,
    jsonDepth: 32,
    batchLength: 100,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    answerTimeout: 60_000,
    unreadBytes: 256 * 1024 * 1024,
    closeTimeout: 3_000,
    gate: {
      key: rate(keyRate, 2),
      ip: rate(ipRate, 2),
      sender: rate(keyRate === 0 ? 0 : SENDER_RATE, 10),
      failures: { perSecond: 1, burst: 60 },
      simulationsPerKey: Math.ceil(SIMULATIONS_PER_KEY / processes),
      simulations: Math.ceil(SIMULATIONS / processes),
      waitsPerKey: Math.ceil(WAITS_PER_KEY / processes),
      waits: Math.ceil(WAITS / processes),
    },
    trustedProxies,
  }
}

export const defaultLimits = limitsOf({ keyRate: 10_000, ipRate: 10_000, trustedProxies: [] }, 1)
