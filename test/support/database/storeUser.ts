import { randomUUID } from 'node:crypto'
import type { Role } from '../../../src/base/vocabulary.js'
import type { Database } from '../../../src/db/database.js'
import { generateSessionToken, hashCredential } from '../../../src/tenants/credential.js'
import { putMember } from '../../../src/tenants/people/members.js'
import { insertSession } from '../../../src/tenants/people/sessions.js'

export type StoredUser = {
  readonly userId: string
  readonly email: string
  readonly sessionId: string
  /** The headers of a request of the browser in which the user is signed in. */
  readonly headers: Readonly<Record<string, string>>
}

/** A user without a password who is signed in on this machine, with a role in an account where one is named. */
export async function storeUser(
  db: Database,
  place: {
    readonly accountId?: string
    readonly role?: Role
    readonly isOperator?: boolean
    readonly passwordHash?: string
  },
): Promise<StoredUser> {
  const { accountId, role, isOperator = false, passwordHash = null } = place
  const email = `${randomUUID()}@example.com`
  const user = await db
    .insertInto('users')
    .values({ email, name: 'user', is_operator: isOperator, password_hash: passwordHash })
    .returning('id')
    .executeTakeFirstOrThrow()
  if (accountId !== undefined && role !== undefined) await putMember(db, accountId, user.id, role)
  const token = generateSessionToken()
  const tokenHash = hashCredential(token)
  const { id: sessionId } = await insertSession(db, {
    userId: user.id,
    tokenHash,
    life: 3_600,
    ip: '127.0.0.1',
    agent: 'test',
  })
  const headers = {
    cookie: `purser=${token}`,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    ...(accountId !== undefined && { 'purser-account': accountId }),
  }
  return { userId: user.id, email, sessionId, headers }
}
