import type { Database } from '../store/database.js'
import { findAccountByToken } from '../store/tenants/accounts.js'
import { findKeyOwner, type KeyOwner } from '../store/tenants/keys.js'
import { hashCredential } from './credential.js'

export type Authenticator = {
  /** Whose key this is; undefined when unknown or revoked. */
  readonly authenticateKey: (key: string) => Promise<KeyOwner | undefined>
  /** Whose token this is; undefined when unknown or revoked. */
  readonly authenticateToken: (token: string) => Promise<{ accountId: string } | undefined>
}

/** A revoked key ends after this many milliseconds at the latest. */
const LIFE = 2_000
const MOST = 10_000

/** Remembers what was found for a moment, unknown credentials too, so that a key is no query per request. */
function remember<Found>(find: (hash: Buffer) => Promise<Found>) {
  const known = new Map<string, { readonly until: number; readonly found: Promise<Found> }>()
  return (credential: string): Promise<Found> => {
    const hash = hashCredential(credential)
    const name = hash.toString('base64')
    const entry = known.get(name)
    if (entry && entry.until > Date.now()) return entry.found
    const found = find(hash)
    // A failed query is no answer and must not be remembered as one.
    found.catch(() => known.delete(name))
    known.delete(name)
    known.set(name, { until: Date.now() + LIFE, found })
    for (const oldest of known.keys()) {
      if (known.size <= MOST) break
      known.delete(oldest)
    }
    return found
  }
}

/** Keys and tokens are looked up by their hash: no comparison of secrets happens in this process. */
export function createAuthenticator(database: Database): Authenticator {
  return {
    authenticateKey: remember((hash) => findKeyOwner(database, hash)),
    authenticateToken: remember((hash) => findAccountByToken(database, hash)),
  }
}
