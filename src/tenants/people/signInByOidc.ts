import type { Logger } from 'pino'
import { LastAdminError, UnauthorizedError } from '../../base/errors/restErrors.js'
import type { Role } from '../../base/vocabulary.js'
import type { Database, Transaction } from '../../db/database.js'
import { type Actor, type AuditChange, audited } from '../audit.js'
import { findShown } from '../resource.js'
import type { Person } from './createOidc.js'
import { addMember, changeRole, findMember, removeMember } from './members.js'
import type { Visitor } from './sessions.js'
import { type AccessContext, type BegunSession, beginSession } from './signIn.js'
import {
  changePassword,
  createUser,
  findUserByEmail,
  lockLiveUser,
  type User,
  users,
} from './users.js'

/**
 * Begins a session of a person whom the provider has verified. The first time, the verified e-mail address says who
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
  return beginSession(context, (trx) => lockLiveUser(trx, { id: userId }), visitor)
}

const UNKNOWN = 'No user of this instance has this identity: ask an administrator for an invitation'

async function userOf(trx: Transaction, person: Person, actor: Actor): Promise<User | undefined> {
  const { email, name, roles } = person
  const known = await findUserOf(trx, person)
  if (known !== undefined) return findShown(trx, users, { id: known })
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
  if (user === undefined || !(await insertIdentity(trx, person, user.id))) return undefined
  // Any admin can invite any address, and choose the password: only the provider proves whose address it is. Operators
  // are not made that way.
  if (user.hasPassword && !user.isOperator)
    await audited(trx, actor, (change) => changePassword(change, user.id, null, undefined))
  return user
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
    logger.warn(
      { accountId },
      'a rule of the identity provider names an account that does not exist',
    )
}

/** A person as an identity provider names one. */
type Identity = { readonly issuer: string; readonly subject: string }

/** The id of the user whom the provider's name stands for; undefined = nobody's yet. */
async function findUserOf(
  db: Database,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('user_identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.user_id
}

/** Ties the provider's name to a user, once. @returns false when the name or the user is tied otherwise */
async function insertIdentity(
  trx: Transaction,
  { issuer, subject }: Identity,
  userId: string,
): Promise<boolean> {
  const row = await trx
    .insertInto('user_identities')
    .values({ issuer, subject, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()
  return row !== undefined
}
