import { sql } from 'kysely'
import { TenantLimitError } from '../../base/errors/limitErrors.js'
import type { Role } from '../../base/vocabulary.js'
import type { Database } from '../../db/database.js'
import { isUuid } from '../../db/uuid.js'
import type { AuditChange } from '../audit.js'
import { generateInvitationToken, hashCredential } from '../credential.js'
import { requireEmail } from './email.js'

/** Seconds for which an invitation to an account is open, and one to choose a password. */
const INVITATION_LIFE = 7 * 86_400
const PASSWORD_LIFE = 86_400
/** The most open invitations to an account. */
const MAX_INVITATIONS = 100

/** A new invitation. Its token is not stored; the inviter passes it on. */
export type ShownInvitation = { readonly invitation: Invitation; readonly token: string }

/** Offers a role in an account. Throws TenantLimitError, InvalidFieldError. */
export async function invite(
  change: AuditChange,
  offer: Pick<NewInvitation, 'email' | 'invitedBy'> & {
    readonly accountId: string
    readonly role: Role
  },
): Promise<ShownInvitation> {
  const email = requireEmail(offer.email)
  const shown = await store(change, { ...offer, email, life: INVITATION_LIFE })
  const { accountId } = offer
  if ((await listInvitations(change.trx, accountId)).length > MAX_INVITATIONS)
    throw new TenantLimitError('account', MAX_INVITATIONS, 'open invitations')
  return shown
}

/** Lets a user choose a password, once; sessions go on until then. */
export function offerPassword(
  change: AuditChange,
  user: { readonly email: string },
  invitedBy: string | null,
): Promise<ShownInvitation> {
  const offer = { email: user.email, accountId: null, role: null, invitedBy }
  return store(change, { ...offer, life: PASSWORD_LIFE })
}

async function store(
  { trx, record }: AuditChange,
  offer: Omit<NewInvitation, 'tokenHash'>,
): Promise<ShownInvitation> {
  const token = generateInvitationToken()
  const invitation = await putInvitation(trx, { ...offer, tokenHash: hashCredential(token) })
  const entry = { objectId: invitation.id, accountId: invitation.accountId, appId: null }
  await record({ action: 'invitation.create', ...entry, after: invitation })
  return { invitation, token }
}

/** Withdraws an invitation. @returns false when the account has no such one */
export async function withdrawInvitation(
  { trx, record }: AuditChange,
  accountId: string,
  id: string,
): Promise<boolean> {
  const before = await deleteInvitation(trx, accountId, id)
  if (before === undefined) return false
  await record({ action: 'invitation.delete', objectId: id, accountId, appId: null, before })
  return true
}

/** The offer of a role in an account, or, without an account, of choosing a password. */
type Invitation = {
  readonly id: string
  /** In lower case. */
  readonly email: string
  readonly accountId: string | null
  readonly role: Role | null
  /** The user who invites; null = no user. */
  readonly invitedBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
}

type NewInvitation = Pick<Invitation, 'email' | 'accountId' | 'role' | 'invitedBy'> & {
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
async function deleteInvitation(
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
