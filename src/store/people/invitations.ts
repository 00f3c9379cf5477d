import { sql } from 'kysely'
import type { Role } from '../../base/vocabulary.js'
import type { Database } from '../database.js'
import { isUuid } from '../uuid.js'

/** The offer of a role in an account, or, without an account, of choosing a password. */
export type Invitation = {
  readonly id: string
  /** In lower case. */
  readonly email: string
  readonly accountId: string | null
  readonly role: Role | null
  readonly invitedBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
}

export type NewInvitation = Pick<Invitation, 'email' | 'accountId' | 'role' | 'invitedBy'> & {
  readonly tokenHash: Buffer
  /** Seconds */
  readonly life: number
}

const columns = [
  'id',
  'email',
  'account_id as accountId',
  'role',
  'invited_by as invitedBy',
  'created_at as createdAt',
  'expires_at as expiresAt',
] as const

/** Stores an invitation; earlier ones of the same address to the same account end. */
export async function putInvitation(db: Database, invitation: NewInvitation): Promise<Invitation> {
  const { email, accountId, role, invitedBy, tokenHash, life } = invitation
  await db
    .deleteFrom('invitations')
    .where('email', '=', email)
    .where('account_id', 'is not distinct from', accountId)
    .execute()
  return db
    .insertInto('invitations')
    .values({
      email,
      account_id: accountId,
      role,
      invited_by: invitedBy,
      token_hash: tokenHash,
      expires_at: sql<Date>`now() + make_interval(secs => ${life})`,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** The open invitations to an account, the newest first. */
export function listInvitations(db: Database, accountId: string): Promise<Invitation[]> {
  return db
    .selectFrom('invitations')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('created_at', 'desc')
    .execute()
}

/** An open invitation by its token's hash. */
export function findInvitation(db: Database, tokenHash: Buffer): Promise<Invitation | undefined> {
  return db
    .selectFrom('invitations')
    .select(columns)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Takes an open invitation: of several requests with one token, one gets it. */
export function takeInvitation(db: Database, tokenHash: Buffer): Promise<Invitation | undefined> {
  return db
    .deleteFrom('invitations')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(columns)
    .executeTakeFirst()
}

/** Withdraws an invitation to the account. */
export async function deleteInvitation(
  db: Database,
  accountId: string,
  id: string,
): Promise<Invitation | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .deleteFrom('invitations')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returning(columns)
    .executeTakeFirst()
}

/** Withdraws what a user offered to others, in one account or in all, and, in all, what the user was offered. */
export async function deleteInvitationsOf(
  db: Database,
  user: { readonly id: string; readonly email: string },
  accountId: string | undefined,
): Promise<void> {
  await db
    .deleteFrom('invitations')
    .where((where) =>
      accountId === undefined
        ? where.or([where('invited_by', '=', user.id), where('email', '=', user.email)])
        : where.and([where('invited_by', '=', user.id), where('account_id', '=', accountId)]),
    )
    .execute()
}

/** Deletes at most `limit` invitations that are past their end. @returns the number of them */
export async function pruneInvitations(db: Database, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from invitations where id in (
    select id from invitations where expires_at < now() limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}
