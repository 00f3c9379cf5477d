import { Lru } from '../base/lru.js'
import type { Database } from '../db/database.js'
import { findTokenOwner, type TokenOwner } from './authTokens.js'
import { hashCredential } from './credential.js'
import { findKeyOwner, type KeyOwner } from './keyOwner.js'

/** The check of API keys and auth tokens. */
export type Authenticator = {
  /** The owner of a key; undefined when it is unknown or revoked. */
  readonly authenticateKey: (key: string) => Promise<KeyOwner | undefined>
  /** The account and role of a token; undefined when it is unknown, revoked or past its end. */
  readonly authenticateToken: (token: string) => Promise<TokenOwner | undefined>
}

/** The milliseconds after which a revoked key or token has ended at the latest. */
const LIFE = 2_000
const MAX_ENTRIES = 10_000

/**
 * A cache of owners, and of unknown credentials, for a moment: not every request of a key makes a
 * query.
 */
function remember<Owner>(find: (hash: Buffer) => Promise<Owner>) {
  const known = new Lru<string, { readonly until: number; readonly owner: Promise<Owner> }>(
    MAX_ENTRIES,
  )
  return (credential: string): Promise<Owner> => {
    const hash = hashCredential(credential)
    const name = hash.toString('base64')
    const entry = known.get(name)
    if (entry && entry.until > performance.now()) return entry.owner
    const owner = find(hash)
    // A failed query is no answer and must not be remembered as one.
    owner.catch(() => known.delete(name))
    known.set(name, { until: performance.now() + LIFE, owner })
    return owner
  }
}

/**
 * Makes an authenticator. It looks keys and tokens up by their hash, so this process compares no
 * secrets.
 */
export function createAuthenticator(database: Database): Authenticator {
  return {
    authenticateKey: remember((hash) => findKeyOwner(database, hash)),
    authenticateToken: remember((hash) => findTokenOwner(database, hash)),
  }
}
