import { InvalidFieldError, LastAdminError, TakenError } from '../errors/restErrors.js'
import { deleteInvitationsOf } from '../store/people/invitations.js'
import { endSessions } from '../store/people/sessions.js'
import {
  countOperators,
  findUser,
  insertUser,
  lockUsers,
  setPasswordHash,
  type User,
  type UserChange,
  updateUser,
} from '../store/people/users.js'
import type { AuditChange } from '../store/tenants/audit.js'
import { normalEmail } from './email.js'

/** An e-mail address in the form in which it is stored. Throws InvalidFieldError. */
export function requireEmail(text: string): string {
  const email = normalEmail(text)
  if (email === undefined) throw new InvalidFieldError('email', 'must be an ASCII e-mail address')
  return email
}

function entryOf({ id }: Pick<User, 'id'>) {
  return { objectId: id, accountId: null, appId: null }
}

/** Makes a user. Throws TakenError, InvalidFieldError. */
export async function createUser(
  { trx, record }: AuditChange,
  settings: {
    readonly email: string
    readonly name: string
    readonly isOperator: boolean
    /** null = the user chooses a password by an invitation. */
    readonly passwordHash: string | null
  },
): Promise<User> {
  await lockUsers(trx)
  const user = await insertUser(trx, { ...settings, email: requireEmail(settings.email) })
  if (user === undefined) throw new TakenError('There is a user with this e-mail address already')
  await record({ action: 'user.create', ...entryOf(user), after: user })
  return user
}

/**
 * Changes what a user may do in the instance; undefined = there is no such user. Whoever is disabled loses all
 * sessions and open invitations. Throws LastAdminError.
 */
export async function changeUser(
  { trx, record }: AuditChange,
  id: string,
  change: UserChange,
): Promise<User | undefined> {
  await lockUsers(trx)
  const before = await findUser(trx, id)
  if (before === undefined) return undefined
  const after = await updateUser(trx, id, change)
  if (isLiveOperator(before) && !isLiveOperator(after) && (await countOperators(trx)) === 0)
    throw new LastAdminError('operator of this instance')
  if (after.disabledAt !== null) {
    await endSessions(trx, id, undefined)
    await deleteInvitationsOf(trx, after, undefined)
  }
  await record({ action: 'user.update', ...entryOf(after), before, after })
  return after
}

function isLiveOperator({ isOperator, disabledAt }: User): boolean {
  return isOperator && disabledAt === null
}

/** Gives a user a password and ends all sessions but the one in which that is done. */
export async function changePassword(
  { trx, record }: AuditChange,
  user: User,
  passwordHash: string,
  keptSession: string | undefined,
): Promise<void> {
  await setPasswordHash(trx, user.id, passwordHash)
  await endSessions(trx, user.id, keptSession)
  await record({ action: 'user.password', ...entryOf(user) })
}
