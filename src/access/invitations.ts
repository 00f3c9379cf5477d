import type { Role } from '../base/vocabulary.js'
import { TenantLimitError } from '../errors/limitErrors.js'
import { TakenError, UnauthorizedError } from '../errors/restErrors.js'
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  listInvitations,
  putInvitation,
  takeInvitation,
} from '../store/people/invitations.js'
import { findUserByEmail, type User } from '../store/people/users.js'
import { type Actor, type AuditChange, audited } from '../store/tenants/audit.js'
import { generateInvitationToken, hashCredential } from '../tenancy/credential.js'
import { type AccessContext, checkPassword, type Visitor } from './checkPassword.js'
import { addMember } from './manageMembers.js'
import { changePassword, createUser, requireEmail } from './manageUsers.js'
import { requireGoodPassword } from './requireGoodPassword.js'

/** Seconds for which an invitation to an account is open, and one to choose a password. */
const INVITATION_LIFE = 7 * 86_400
const PASSWORD_LIFE = 86_400
/** The most open invitations to an account. */
const MAX_INVITATIONS = 100

/** A new invitation. Its token is stored nowhere, and is handed on by whoever invites. */
export type ShownInvitation = { readonly invitation: Invitation; readonly token: string }

/** Offers a role in an account. Throws TenantLimitError, InvalidFieldError. */
export async function invite(
  change: AuditChange,
  offer: {
    readonly email: string
    readonly accountId: string
    readonly role: Role
    /** The user who invites; null = no user. */
    readonly invitedBy: string | null
  },
): Promise<ShownInvitation> {
  const email = requireEmail(offer.email)
  const shown = await store(change, { ...offer, email, life: INVITATION_LIFE })
  const { accountId } = offer
  if ((await listInvitations(change.trx, accountId)).length > MAX_INVITATIONS)
    throw new TenantLimitError('account', `${MAX_INVITATIONS} open invitations`)
  return shown
}

/** Lets a user choose a password, once; sessions go on until then. */
export function offerPassword(
  change: AuditChange,
  user: User,
  invitedBy: string | null,
): Promise<ShownInvitation> {
  const offer = { email: user.email, accountId: null, role: null, invitedBy }
  return store(change, { ...offer, life: PASSWORD_LIFE })
}

async function store(
  { trx, record }: AuditChange,
  offer: Omit<Parameters<typeof putInvitation>[1], 'tokenHash'>,
): Promise<ShownInvitation> {
  const token = generateInvitationToken()
  const invitation = await putInvitation(trx, { ...offer, tokenHash: hashCredential(token) })
  const { id: objectId, accountId } = invitation
  await record({
    action: 'invitation.create',
    objectId,
    accountId,
    appId: null,
    after: invitation,
  })
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

type Answer = {
  readonly token: string
  readonly password: string
  /** Of a new user; absent = the e-mail address. */
  readonly name: string | undefined
}

/**
 * Accepts an invitation, once. Whoever is new, or was offered to choose a password, gets the one that is named. A user
 * who is known must name the right one, so that an invitation to an account opens nobody else's access.
 * @throws UnauthorizedError, WeakPasswordError, RateLimitError
 */
export async function acceptInvitation(
  context: AccessContext,
  { token, password, name }: Answer,
  visitor: Visitor,
): Promise<User> {
  const { database, passwords } = context
  const tokenHash = hashCredential(token)
  const invitation = await findInvitation(database, tokenHash)
  if (invitation === undefined) throw unknown()
  const { email, accountId } = invitation
  const known = await findUserByEmail(database, email)
  if (known !== undefined && known.disabledAt !== null) throw unknown()
  // Any admin can invite any address, also that of an operator who has not chosen a password yet.
  const mustProve = accountId !== null && known !== undefined
  if (!mustProve) requireGoodPassword(password, email)
  const passwordHash = mustProve
    ? await checkPassword(context, email, password, visitor)
    : await passwords.hash(password, visitor.network)
  if (passwordHash === undefined)
    throw new UnauthorizedError('The password is not the one of the user who was invited')
  return database.transaction().execute(async (trx) => {
    if ((await takeInvitation(trx, tokenHash)) === undefined) throw unknown()
    const { ip, requestId } = visitor
    const as = (id: string | null): Actor => ({ kind: 'user', id, ip, requestId })
    const user =
      known ??
      (await audited(trx, as(null), (change) =>
        createUser(change, { email, name: name ?? email, isOperator: false, passwordHash }),
      ))
    return audited(trx, as(user.id), async (change) => {
      if (known !== undefined && !mustProve)
        await changePassword(change, user, passwordHash, undefined)
      if (invitation.accountId !== null && invitation.role !== null)
        if (!(await addMember(change, invitation.accountId, user.id, invitation.role)))
          throw new TakenError('The account of this invitation has ended')
      return user
    })
  })
}

function unknown(): UnauthorizedError {
  return new UnauthorizedError('This invitation is unknown, was used, or is past its end')
}
