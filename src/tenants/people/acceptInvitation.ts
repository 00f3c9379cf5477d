import { InvalidFieldError, TakenError, UnauthorizedError } from '../../base/errors/restErrors.js'
import type { Role } from '../../base/vocabulary.js'
import { type Actor, type AuditChange, audited } from '../audit.js'
import { hashCredential } from '../credential.js'
import { findInvitation, takeInvitation } from './invitations.js'
import { addMember } from './members.js'
import { requireGoodPassword } from './passwords.js'
import type { Visitor } from './sessions.js'
import { type AccessContext, checkPassword } from './signIn.js'
import { changePassword, createUser, findUserByEmail, type User } from './users.js'

type Answer = {
  readonly token: string
  readonly password: string
  /** Of a new user; absent = the e-mail address. */
  readonly name: string | undefined
}

/**
 * Accepts an invitation, once. A new user, or one who was invited to choose a password, gets the given one. A known
 * user must give the right one, so that an invitation to an account opens nobody else's access.
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
    throw new UnauthorizedError(
      'The password is not the one of the user who was invited. A user without a password signs in first, then opens the link again',
    )
  return database.transaction().execute(async (trx) => {
    if (!(await takeInvitation(trx, tokenHash))) throw unknown()
    const { ip, requestId } = visitor
    const as = (id: string | null): Actor => ({ kind: 'user', id, ip, requestId })
    const user =
      known ??
      (await audited(trx, as(null), (change) =>
        createUser(change, { email, name: name ?? email, isOperator: false, passwordHash }),
      ))
    return audited(trx, as(user.id), async (change) => {
      if (known !== undefined && !mustProve)
        await changePassword(change, user.id, passwordHash, undefined)
      if (invitation.accountId !== null && invitation.role !== null)
        await join(change, invitation.accountId, user.id, invitation.role)
      return user
    })
  })
}

/**
 * Accepts an invitation to an account as the user of a session, who has that address, once.
 * @throws InvalidFieldError, TakenError, TenantLimitError
 */
export async function joinByInvitation(
  change: AuditChange,
  token: string,
  { userId, email }: { readonly userId: string; readonly email: string },
): Promise<true> {
  const { trx } = change
  const tokenHash = hashCredential(token)
  const offered = await findInvitation(trx, tokenHash)
  const { accountId, role } = offered ?? { accountId: null, role: null }
  if (offered?.email !== email || accountId === null || role === null)
    throw new InvalidFieldError('token', 'is no open invitation of this user to an account')
  if (!(await takeInvitation(trx, tokenHash)))
    throw new InvalidFieldError('token', 'was used a moment ago')
  await join(change, accountId, userId, role)
  return true
}

async function join(change: AuditChange, accountId: string, userId: string, role: Role) {
  if (!(await addMember(change, accountId, userId, role)))
    throw new TakenError('The account of this invitation has ended')
}

function unknown(): UnauthorizedError {
  return new UnauthorizedError('This invitation is unknown, was used, or is past its end')
}
