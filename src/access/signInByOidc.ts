import type { Logger } from 'pino'
import type { Role } from '../base/vocabulary.js'
import { LastAdminError, UnauthorizedError } from '../errors/restErrors.js'
import type { Transaction } from '../store/database.js'
import { findUserOf, insertIdentity } from '../store/people/identities.js'
import { findMember } from '../store/people/members.js'
import { findUser, findUserByEmail, lockLiveUser, type User } from '../store/people/users.js'
import { type Actor, type AuditChange, audited } from '../store/tenants/audit.js'
import type { AccessContext, Visitor } from './checkPassword.js'
import { addMember, changeRole, removeMember } from './manageMembers.js'
import { createUser } from './manageUsers.js'
import type { Person } from './oidc/readPerson.js'
import { type BegunSession, beginSession } from './signIn.js'

/**
 * Begins a session of a person for whom the provider vouches. The first time, the verified e-mail address says who
 * that is; after it the provider's own name does. A person whom nobody invited becomes a user if a rule gives a role.
 * The rules decide on the accounts that they name, at each sign-in; nobody becomes an operator by them.
 * @throws UnauthorizedError, RateLimitError
 */
export async function signInByOidc(
  context: AccessContext,
  person: Person,
  visitor: Visitor,
): Promise<BegunSession> {
  const { database, logger } = context
  const { ip, requestId } = visitor
  const as = (id: string | null): Actor => ({ kind: 'user', id, ip, requestId })
  const userId = await database.transaction().execute(async (trx) => {
    const user = await userOf(trx, person, as(null))
    if (user === undefined || user.disabledAt !== null) throw new UnauthorizedError(UNKNOWN)
    return user.id
  })
  for (const [accountId, role] of person.roles)
    await audited(database, as(userId), (change) =>
      giveRole(change, { accountId, userId, role }, logger),
    ).catch((error) => {
      if (!(error instanceof LastAdminError)) throw error
      logger.warn({ accountId, userId }, 'the last admin of an account keeps the role')
    })
  return beginSession(context, (trx) => lockLiveUser(trx, userId), visitor)
}

const UNKNOWN = 'No user of this instance has this identity: ask an administrator for an invitation'

async function userOf(trx: Transaction, person: Person, actor: Actor): Promise<User | undefined> {
  const { email, name, roles } = person
  const known = await findUserOf(trx, person)
  if (known !== undefined) return findUser(trx, known)
  if (email === undefined) return undefined
  const hasRole = [...roles.values()].some((role) => role !== undefined)
  const user =
    (await findUserByEmail(trx, email)) ??
    (hasRole
      ? await audited(trx, actor, (change) =>
          createUser(change, { email, name: name ?? email, isOperator: false, passwordHash: null }),
        )
      : undefined)
  // An address that was given to another person is not the user whom it meant before.
  return user !== undefined && (await insertIdentity(trx, person, user.id)) ? user : undefined
}

/** Gives exactly this role in an account; undefined takes the one that the user has. Throws LastAdminError. */
async function giveRole(
  change: AuditChange,
  to: { readonly accountId: string; readonly userId: string; readonly role: Role | undefined },
  logger: Logger,
): Promise<void> {
  const { accountId, userId, role } = to
  const before = (await findMember(change.trx, accountId, userId))?.role
  if (before === role) return
  if (role === undefined) await removeMember(change, accountId, userId)
  else if (before !== undefined) await changeRole(change, accountId, userId, role)
  else if (!(await addMember(change, accountId, userId, role)))
    logger.warn({ accountId }, 'a rule of the identity provider names no live account')
}
