import { sql } from 'kysely'
import { z } from 'zod'
import { LastAdminError, TakenError } from '../../base/errors/restErrors.js'
import type { Database, Transaction } from '../../db/database.js'
import { type AuditChange, audited } from '../audit.js'
import {
  changeRow,
  findRow,
  findShown,
  insertRow,
  listRows,
  resource,
  updateRow,
} from '../resource.js'
import { route } from '../route.js'
import { email, id, listOf, name, type Row, time } from '../schemas.js'
import { requireEmail } from './email.js'
import { deleteInvitationsOf, invitationWithToken, offerPassword } from './invitations.js'
import { type Passwords, requireGoodPassword } from './passwords.js'
import { endSessions } from './sessions.js'

export const user = z.object({
  id,
  /** In lower case. */
  email,
  name: z.string(),
  /** May administer the instance, and enter any account. */
  isOperator: z.boolean(),
  /** Chose a password already. */
  hasPassword: z.boolean(),
  createdAt: time,
  disabledAt: time.nullable(),
})

/** A person who signs in. */
export type User = Row<typeof user>

export const users = resource({
  name: 'user',
  table: 'users',
  shown: user,
  columns: { hasPassword: ({ password_hash }) => password_hash !== null },
  order: sql`email`,
})

/** A user, also a disabled one. @param email - in lower case */
export function findUserByEmail(db: Database, email: string): Promise<User | undefined> {
  return findShown(db, users, { email })
}

/** The hash of a live user's password; undefined = no such user, disabled, or without a password. */
export async function findPasswordHash(db: Database, email: string): Promise<string | undefined> {
  return (await findRow(db, users, { email, disabled_at: null }))?.password_hash ?? undefined
}

/**
 * A live user; with an e-mail address one whose password still is the one of the hash. The row is locked until the
 * transaction ends, so that a change of the password finds the session that begins in it.
 */
export function lockLiveUser(
  trx: Transaction,
  user: { readonly id: string } | { readonly email: string; readonly password_hash: string },
): Promise<User | undefined> {
  return findShown(trx, users, { ...user, disabled_at: null }, sql`for share`)
}

/** Key of the advisory lock of those who change users; spells "users". */
const LOCK = 0x7573657273n

/** Keeps others from changing users until the transaction ends, so that the last operator stays one. */
async function lockUsers(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
}

type NewUser = Pick<User, 'email' | 'name' | 'isOperator'> & {
  /** null = the user chooses a password by an invitation. */
  readonly passwordHash: string | null
}

/** Makes a user. Throws TakenError, InvalidFieldError. */
export async function createUser(
  change: AuditChange,
  { email: text, name, isOperator, passwordHash }: NewUser,
): Promise<User> {
  await lockUsers(change.trx)
  const email = requireEmail(text)
  if ((await findUserByEmail(change.trx, email)) !== undefined)
    throw new TakenError('There is a user with this e-mail address already')
  const values = { email, name, is_operator: isOperator, password_hash: passwordHash }
  const made = await insertRow(change, users, values)
  if (made === undefined) throw new Error('a user has no owner')
  return made
}

/**
 * Changes what a user may do in the instance; undefined = there is no such user. Disabling ends all
 * sessions and open invitations. Throws LastAdminError.
 */
export async function changeUser(
  change: AuditChange,
  id: string,
  columns: { readonly is_operator?: boolean | undefined; readonly disabled_at?: Date | null },
): Promise<User | undefined> {
  const { trx } = change
  await lockUsers(trx)
  const before = await findShown(trx, users, { id })
  const after = await updateRow(change, users, { id }, columns)
  if (before === undefined || after === undefined) return undefined
  const operator = await findRow(trx, users, { is_operator: true, disabled_at: null })
  if (before.isOperator && before.disabledAt === null && operator === undefined)
    throw new LastAdminError('operator of this instance')
  if (after.disabledAt !== null) {
    await endSessions(trx, id, undefined)
    await deleteInvitationsOf(trx, after, undefined)
  }
  return after
}

/**
 * Gives a user a password, or none, and ends all sessions but the one in which that is done.
 * @returns undefined when there is no such user
 */
export function changePassword(
  change: AuditChange,
  id: string,
  passwordHash: string | null,
  keptSession: string | undefined,
): Promise<true | undefined> {
  const { trx } = change
  return changeRow(change, users, { id }, 'password', async () => {
    await trx
      .updateTable('users')
      .set({ password_hash: passwordHash })
      .where('id', '=', id)
      .execute()
    await endSessions(trx, id, keptSession)
    return { after: true }
  })
}

/**
 * Makes the operator whom the configuration names, where there is no user at all. A later change of the
 * configuration changes no password. Throws WeakPasswordError, InvalidFieldError.
 */
export async function createFirstUser(
  { database, passwords }: { readonly database: Database; readonly passwords: Passwords },
  configured: { readonly email: string; readonly password: string },
): Promise<void> {
  const email = requireEmail(configured.email)
  requireGoodPassword(configured.password, email)
  if ((await findRow(database, users, {})) !== undefined) return
  const passwordHash = await passwords.hash(configured.password, 'configuration')
  const actor = { kind: 'operator', id: null, ip: null, requestId: null } as const
  await audited(database, actor, async (change) => {
    await lockUsers(change.trx)
    if ((await findRow(change.trx, users, {})) !== undefined) return
    await createUser(change, { email, name: email, isOperator: true, passwordHash })
  })
}

/** All users of the instance are the operator's business; members of an account are the account's. */
export const userRoutes = [
  route('GET /users', {
    command: 'list',
    summary: 'All users, also disabled ones',
    who: 'operator',
    answer: listOf(user),
    run: ({ context }) => listRows(context.database, users, {}),
  }),
  route('POST /users', {
    summary: 'Create a user, who chooses a password with the token, shown once, within a day',
    who: 'operator',
    status: 201,
    body: z.strictObject({ email, name, isOperator: z.boolean().default(false) }),
    answer: z.object({ user, ...invitationWithToken.shape }),
    run: ({ change, caller, body }) =>
      change(async (audit) => {
        const made = await createUser(audit, { ...body, passwordHash: null })
        return { user: made, ...(await offerPassword(audit, made, caller.user?.userId ?? null)) }
      }),
  }),
  route('PATCH /users/{userId}', {
    summary: 'Grant or revoke operator, disable or enable a user; the last operator stays one',
    who: 'operator',
    body: z.strictObject({ isOperator: z.boolean(), isDisabled: z.boolean() }).partial(),
    answer: user,
    run: ({ change, params, body: { isOperator, isDisabled } }) =>
      change((audit) =>
        changeUser(audit, params.userId, {
          is_operator: isOperator,
          ...(isDisabled !== undefined && { disabled_at: isDisabled ? new Date() : null }),
        }),
      ),
  }),
  route('POST /users/{userId}/password', {
    summary: 'Let a user choose another password with the token, shown once, within a day',
    who: 'operator',
    status: 201,
    answer: invitationWithToken,
    run: ({ change, caller, params }) =>
      change(async (audit) => {
        const found = await findShown(audit.trx, users, { id: params.userId, disabled_at: null })
        return found && offerPassword(audit, found, caller.user?.userId ?? null)
      }),
  }),
]
