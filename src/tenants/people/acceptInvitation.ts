import { TakenError, UnauthorizedError } from '../../base/errors/restErrors.js'
import { type Actor, audited } from '../audit.js'
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
    throw new UnauthorizedError('The password is not the one of the user who was invited')
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
        if (!(await addMember(change, invitation.accountId, user.id, invitation.role)))
          throw new TakenError('The account of this invitation has ended')
      return user
    })
  })
}

function unknown(): UnauthorizedError {
  return new UnauthorizedError('This invitation is unknown, was used, or is past its end')
}
