import { sql } from 'kysely'
import { z } from 'zod'
import { NotFoundError } from '../../base/errors/restErrors.js'
import type { Database } from '../../db/database.js'
import type { AuditChange } from '../audit.js'
import { generateInvitationToken, hashCredential } from '../credential.js'
import { deleteRow, findShown, insertRow, listRows, resource } from '../resource.js'
import { route } from '../route.js'
import { done, email, id, listOf, type Row, role, time } from '../schemas.js'
import { requireEmail } from './email.js'

/** Seconds for which an invitation to an account is open, and one to choose a password. */
const INVITATION_LIFE = 7 * 86_400
const PASSWORD_LIFE = 86_400

const invitation = z.object({
  id,
  /** In lower case. */
  email,
  role: role.nullable(),
  createdAt: time,
  expiresAt: time,
})

/** Offers of a role in an account, or, without an account, of choosing a password. */
export const invitations = resource({
  name: 'invitation',
  table: 'invitations',
  shown: invitation.extend({ accountId: id.nullable(), invitedBy: id.nullable() }),
  order: sql`created_at desc`,
  limit: {
    of: 'account',
    most: 100,
    noun: 'open invitations',
    counted: sql`expires_at > now()`,
  },
})

type Invitation = Row<typeof invitations.shown>

/** An invitation with its token, to be passed on: the first to use the token accepts it. */
export const invitationWithToken = z.object({ invitation, token: z.string() })

/** A new invitation. Its token is not stored; the inviter passes it on. */
type ShownInvitation = { readonly invitation: Invitation; readonly token: string }

type Offer = Pick<Invitation, 'email' | 'accountId' | 'role' | 'invitedBy'>

/** Offers a role in an account. Throws TenantLimitError, InvalidFieldError, NotFoundError. */
export function invite(change: AuditChange, offer: Offer): Promise<ShownInvitation> {
  return store(change, { ...offer, email: requireEmail(offer.email) }, INVITATION_LIFE)
}

/** Lets a user choose a password, once; sessions go on until then. */
export function offerPassword(
  change: AuditChange,
  { email }: { readonly email: string },
  invitedBy: string | null,
): Promise<ShownInvitation> {
  return store(change, { email, accountId: null, role: null, invitedBy }, PASSWORD_LIFE)
}

/** Stores an invitation; earlier ones of the same address to the same account end. */
async function store(
  change: AuditChange,
  { email, accountId, role, invitedBy }: Offer,
  life: number,
): Promise<ShownInvitation> {
  await change.trx
    .deleteFrom('invitations')
    .where('email', '=', email)
    .where('account_id', 'is not distinct from', accountId)
    .execute()
  const token = generateInvitationToken()
  const invitation = await insertRow(change, invitations, {
    email,
    account_id: accountId,
    role,
    invited_by: invitedBy,
    token_hash: hashCredential(token),
    expires_at: sql`now() + make_interval(secs => ${life})`,
  })
  if (invitation === undefined) throw new NotFoundError('Account')
  return { invitation, token }
}

const open = { expires_at: sql`> now()` }

/** An open invitation by its token's hash. */
export function findInvitation(db: Database, tokenHash: Buffer): Promise<Invitation | undefined> {
  return findShown(db, invitations, { token_hash: tokenHash, ...open })
}

/** Takes an open invitation: of several requests with one token, one gets it. @returns whether this one did */
export async function takeInvitation(db: Database, tokenHash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return numDeletedRows > 0n
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

/** Offers to users of a role in the account. */
export const invitationRoutes = [
  route('GET /invitations', {
    summary: 'Open invitations to the account, newest first',
    role: 'admin',
    answer: listOf(invitation),
    run: ({ context, accountId }) =>
      listRows(context.database, invitations, { account_id: accountId, ...open }),
  }),
  route('POST /invitations', {
    command: 'invite',
    summary: 'Invite to a role for seven days; the token is shown once, to be passed on',
    role: 'admin',
    status: 201,
    body: z.strictObject({ email, role }),
    answer: invitationWithToken,
    run: ({ change, caller, accountId, body }) =>
      change((audit) =>
        invite(audit, { ...body, accountId, invitedBy: caller.user?.userId ?? null }),
      ),
  }),
  route('DELETE /invitations/{invitationId}', {
    summary: 'Withdraw an invitation',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params }) =>
      change((audit) =>
        deleteRow(audit, invitations, { id: params.invitationId, account_id: accountId }),
      ),
  }),
]
