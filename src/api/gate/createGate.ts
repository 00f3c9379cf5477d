import { createHash } from 'node:crypto'
import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { Lru } from '../../base/lru.js'
import type { Requester } from '../../base/requester.js'
import { type MethodName, methods } from '../methods/methodList.js'
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
  /** Sockets, requests and subscriptions that wait for operations at the same time; 0 = no limit. */
  readonly waitsPerKey: number
  readonly waits: number
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
  /**
   * Runs a simulation for the key unless too many are under way. Work for the requester that `run` gets
   * takes a unit of the key for each millisecond of a thread beyond the method's cost. Throws
   * RateLimitError, also from a heavy run.
   */
  simulate<Result>(
    keyId: string,
    method: MethodName,
    run: (requester: Requester) => Promise<Result>,
  ): Promise<Result>
  /** Takes a place among those who wait; the function gives it back, once. Throws RateLimitError. */
  wait(keyId: string): () => void
}

/** Milliseconds during which a right credential passes although its IP was wrong too often. */
const REMEMBERED = 600_000

/** Requests of one key that may have heavy runs under way (`validation/simulations.ts`); they take turns, one run each. */
const HEAVY_PER_KEY = 8
/** Seconds after which a key that has so many should try again: a heavy request takes some seconds. */
const HEAVY_PAUSE = 5

/** Simulations of one key that are under way. */
type Running = { count: number; heavy: number }

function isFull(most: number, count: number): boolean {
  return most > 0 && count >= most
}

/** The limits of one process: each of several replicas counts for itself. */
export function createGate(limits: GateLimits): Gate {
  const buckets = {
    key: createTokenBuckets(limits.key),
    ip: createTokenBuckets(limits.ip),
    sender: createTokenBuckets(limits.sender),
    authentication: createTokenBuckets(limits.failures),
  }
  const rightCredentials = new Lru<string, number>(10_000)
  const running = new Map<string, Running>()
  let runningInAll = 0
  const waits = new Map<string, number>()
  let waitsInAll = 0

  const take = (limit: keyof typeof buckets, name: string, cost: number): void => {
    const wait = buckets[limit].take(name, cost)
    if (wait > 0) throw new RateLimitError(limit, wait)
  }

  return {
    enter: (ip) => take('ip', networkOf(ip), 1),
    tryCredential(ip, credential) {
      const wait = buckets.authentication.wait(networkOf(ip))
      if (wait === 0 || (rightCredentials.get(fingerprint(credential)) ?? 0) > performance.now())
        return
      throw new RateLimitError('authentication', wait)
    },
    call: (keyId, method) => take('key', keyId, methods[method].cost),
    about: (keyId, sender, method) => take('sender', `${keyId} ${sender}`, methods[method].cost),
    credentialWasWrong(ip) {
      buckets.authentication.take(networkOf(ip), 1)
    },
    credentialWasRight(credential) {
      rightCredentials.set(fingerprint(credential), performance.now() + REMEMBERED)
    },
    async simulate(keyId, method, run) {
      const ofKey = running.get(keyId) ?? { count: 0, heavy: 0 }
      if (isFull(limits.simulationsPerKey, ofKey.count) || isFull(limits.simulations, runningInAll))
        throw new RateLimitError('simulations', 1)
      running.set(keyId, ofKey)
      ofKey.count += 1
      runningInAll += 1
      const { requester, end } = createRequester(keyId, ofKey)
      try {
        return await run(requester)
      } finally {
        runningInAll -= 1
        ofKey.count -= 1
        end()
        if (ofKey.count === 0) running.delete(keyId)
        const unpaid = Math.floor(requester.spent) - methods[method].cost
        if (unpaid > 0) buckets.key.charge(keyId, unpaid)
      }
    },
    wait(keyId) {
      const ofKey = waits.get(keyId) ?? 0
      if (isFull(limits.waitsPerKey, ofKey) || isFull(limits.waits, waitsInAll))
        throw new RateLimitError('waits', 1)
      waits.set(keyId, ofKey + 1)
      waitsInAll += 1
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        waitsInAll -= 1
        const left = (waits.get(keyId) ?? 1) - 1
        if (left === 0) waits.delete(keyId)
        else waits.set(keyId, left)
      }
    },
  }
}

/** A request of a key; `end` gives its place among the heavy ones back. */
function createRequester(
  keyId: string,
  ofKey: Running,
): { readonly requester: Requester; readonly end: () => void } {
  let spent = 0
  let isHeavy = false
  let hasEnded = false
  const requester: Requester = {
    name: keyId,
    since: performance.now(),
    get spent() {
      return spent
    },
    spend(milliseconds) {
      spent += milliseconds
    },
    beginHeavyWork() {
      if (isHeavy) return
      // A part of it may go on when another one has failed; nobody would give its place back.
      if (hasEnded || ofKey.heavy >= HEAVY_PER_KEY)
        throw new RateLimitError('heavySimulations', HEAVY_PAUSE)
      isHeavy = true
      ofKey.heavy += 1
    },
  }
  return {
    requester,
    end() {
      hasEnded = true
      if (isHeavy) ofKey.heavy -= 1
    },
  }
}

/** Credentials themselves are not kept. */
function fingerprint(credential: string): string {
  return createHash('sha256').update(credential).digest('base64')
}

/** Leading 16-bit groups that one subscriber has in IPv6: the network of 64 bits. */
const GROUPS = 4

/**
 * The name under which limits count an address: an IPv4 address itself, an IPv6 address by its network
 * (/64), of which every subscriber has all 2^64 addresses.
 */
export function networkOf(ip: string): string {
  if (isIPv4(ip) || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const groups = address.parts.slice(0, GROUPS).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}
