import { PurserError } from './purserError.js'

type LimitName =
  | 'key'
  | 'ip'
  | 'sender'
  | 'simulations'
  | 'heavySimulations'
  | 'authentication'
  | 'webhookTest'
  | 'changes'
  | 'trials'
  | 'rehearsals'
  | 'streams'
  | 'waits'
  | 'keyQuota'
  | 'appQuota'
  | 'signIn'
  | 'passwords'
  | 'sessions'

/** A quota that is used up: requests in a window of so many seconds, over all processes. */
type UsedQuota = {
  readonly limit: number
  readonly used: number
  readonly seconds: number
}

/** A rate limit is reached; the caller may try again after `retryAfter` seconds. */
export class RateLimitError extends PurserError {
  readonly limit: LimitName
  constructor(limit: LimitName, seconds: number, quota?: UsedQuota) {
    const retryAfter = Math.max(1, Math.ceil(seconds))
    const used = quota && ` It made ${quota.used} of ${quota.limit} requests in ${quota.seconds} s.`
    super(`${sentences[limit]}${used ?? ''} Try again in ${retryAfter} s.`, {
      code: -32005,
      status: 429,
      data: { limit, retryAfter, ...(quota && { quota }) },
      retryAfter,
    })
    this.limit = limit
  }
}

const sentences: Record<LimitName, string> = {
  key: 'Rate limit of this API key exceeded.',
  keyQuota: 'The quota of this API key is used up.',
  appQuota: 'The quota of this app is used up.',
  ip: 'Too many requests come from this address.',
  sender: 'Too many requests concern this sender.',
  simulations: 'Too many operations are being simulated.',
  heavySimulations: 'This API key has too many simulations of more than 500,000 steps.',
  webhookTest: 'A webhook of this app was just tested.',
  changes: 'This account reached its limit of changes per day: 1,000, or 16 MB.',
  rehearsals: 'A rehearsal of this chain is running.',
  trials: 'Another policy trial of this account, or too many of other accounts, are running.',
  streams:
    'Too many streams are open: 20 of one account, 500 in one process. Close one, or try again soon.',
  waits:
    'Too many sockets, subscriptions and waiting requests are open, of this API key or in all.',
  signIn: 'Too many attempts to sign in as this user failed.',
  passwords: 'Too many passwords are being checked.',
  sessions: 'This user reached the limit of 100 sign-ins per day.',
  authentication: 'Too many requests from this address had a wrong credential.',
}

/** The key exists but may not be used like this. */
export class KeyRestrictedError extends PurserError {
  constructor(reason: string, restriction: 'origin' | 'ip' | 'method') {
    super(`This API key ${reason}`, {
      code: -32001,
      status: 403,
      rule: 'KEY_RESTRICTED',
      data: { restriction },
    })
  }
}

/** A tenant stores as much of something as it may. */
export class TenantLimitError extends PurserError {
  /** @param held - the things that it may have, such as "keys" */
  constructor(owner: 'account' | 'app', limit: number, held: string) {
    super(`This ${owner} has ${limit} ${held}, the most it may have. Delete one first.`, {
      code: -32602,
      data: { limit },
    })
  }
}
