import type { GateLimits } from './gate/createGate.js'

/** Limits of one request before anything is done for it, and of all requests together. */
export type ApiLimits = {
  readonly bodyBytes: number
  readonly jsonDepth: number
  readonly batchLength: number
  /** Milliseconds to receive the headers, and to receive the whole request. */
  readonly headersTimeout: number
  readonly requestTimeout: number
  /** Milliseconds that running requests are given when the server closes. */
  readonly closeTimeout: number
  readonly gate: GateLimits
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
}

/** @param perSecond units; 0 = no limit */
export function gateLimits(
  perSecond: { readonly key: number; readonly ip: number; readonly sender: number },
  simulations: { readonly perKey: number; readonly all: number },
): GateLimits {
  return {
    key: { perSecond: perSecond.key, burst: perSecond.key * 2 },
    ip: { perSecond: perSecond.ip, burst: perSecond.ip * 2 },
    sender: { perSecond: perSecond.sender, burst: perSecond.sender * 10 },
    failures: { perSecond: 1, burst: 60 },
    simulationsPerKey: simulations.perKey,
    simulations: simulations.all,
  }
}

export const defaultLimits: ApiLimits = {
  bodyBytes: 1024 * 1024,
  jsonDepth: 32,
  batchLength: 100,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  closeTimeout: 3_000,
  gate: gateLimits({ key: 10_000, ip: 10_000, sender: 100 }, { perKey: 256, all: 1_024 }),
  trustedProxies: [],
}
