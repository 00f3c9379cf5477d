import { createHash } from 'node:crypto'
import { Lru } from '../../base/lru.js'
import { type LimitName, RateLimitError } from '../../errors/limitErrors.js'
import { type MethodName, methods } from '../methods/methodList.js'
import { networkOf } from './networkOf.js'
import { createTokenBuckets, type Rate } from './tokenBuckets.js'

export type GateLimits = {
  /** Units of `cost` of a method. */
  readonly key: Rate
  /** Of IPv6 addresses per network, see `networkOf`; so is `failures`. */
  readonly ip: Rate
  /** Per key and sender, for methods that are about an operation. */
  readonly sender: Rate
  /** Requests with a wrong credential, per IP. */
  readonly failures: Rate
  /** Operations simulated at the same time; 0 = no limit. */
  readonly simulationsPerKey: number
  readonly simulations: number
}

export type Gate = {
  /** The three below throw RateLimitError. */
  enter(ip: string): void
  /** Before a credential is looked up: has this IP been wrong too often? One that was right passes. */
  tryCredential(ip: string, credential: string): void
  call(keyId: string, method: MethodName): void
  about(keyId: string, sender: string, method: MethodName): void
  credentialWasWrong(ip: string): void
  credentialWasRight(credential: string): void
  /** Runs a simulation unless too many are under way. Throws RateLimitError. */
  simulate<Result>(keyId: string, run: () => Promise<Result>): Promise<Result>
}

/** Milliseconds during which a right credential passes although its IP was wrong too often. */
const REMEMBERED = 600_000

/** The limits of one process: each of several replicas counts for itself. */
export function createGate(limits: GateLimits): Gate {
  const buckets = {
    key: createTokenBuckets(limits.key),
    ip: createTokenBuckets(limits.ip),
    sender: createTokenBuckets(limits.sender),
    authentication: createTokenBuckets(limits.failures),
  }
  const rightCredentials = new Lru<string, number>(10_000)
  const running = new Map<string, number>()
  let runningInAll = 0

  const take = (
    limit: Exclude<LimitName, 'simulations' | 'webhookTest'>,
    name: string,
    cost: number,
  ): void => {
    const wait = buckets[limit].take(name, cost)
    if (wait > 0) throw new RateLimitError(limit, wait)
  }

  return {
    enter: (ip) => take('ip', networkOf(ip), 1),
    tryCredential(ip, credential) {
      const wait = buckets.authentication.wait(networkOf(ip))
      if (wait === 0 || (rightCredentials.get(fingerprint(credential)) ?? 0) > Date.now()) return
      throw new RateLimitError('authentication', wait)
    },
    call: (keyId, method) => take('key', keyId, methods[method].cost),
    about: (keyId, sender, method) => take('sender', `${keyId} ${sender}`, methods[method].cost),
    credentialWasWrong(ip) {
      buckets.authentication.take(networkOf(ip), 1)
    },
    credentialWasRight(credential) {
      rightCredentials.set(fingerprint(credential), Date.now() + REMEMBERED)
    },
    async simulate(keyId, run) {
      const runningOfKey = running.get(keyId) ?? 0
      const isFull = (most: number, count: number): boolean => most > 0 && count >= most
      if (
        isFull(limits.simulationsPerKey, runningOfKey) ||
        isFull(limits.simulations, runningInAll)
      )
        throw new RateLimitError('simulations', 1)
      running.set(keyId, runningOfKey + 1)
      runningInAll += 1
      try {
        return await run()
      } finally {
        runningInAll -= 1
        const remaining = (running.get(keyId) ?? 1) - 1
        if (remaining === 0) running.delete(keyId)
        else running.set(keyId, remaining)
      }
    },
  }
}

/** Credentials themselves are not kept. */
function fingerprint(credential: string): string {
  return createHash('sha256').update(credential).digest('base64')
}
