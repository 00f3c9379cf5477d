import { z } from 'zod'
import { TenantLimitError } from '../../base/errors/limitErrors.js'
import { LastAdminError, NotFoundError } from '../../base/errors/restErrors.js'
import { mayAct, type Role } from '../../base/vocabulary.js'
import type { Database } from '../../db/database.js'
import { isUuid } from '../../db/uuid.js'
import type { AuditChange } from '../audit.js'
import { lockOwner } from '../resource.js'
import { route } from '../route.js'
import { done, email, id, listOf, type Row, role, time } from '../schemas.js'
import { deleteInvitationsOf } from './invitations.js'

const member = z.object({
  userId: id,
  email,
  name: z.string(),
  role,
  createdAt: time,
  disabledAt: time.nullable(),
})

/** A user with a role in an account. */
type Member = Row<typeof member>

export const membership = z.object({ accountId: id, accountName: z.string(), role })

function memberRows(db: Database, accountId: string) {
  return db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select([
      'users.id as userId',
      'users.email',
      'users.name',
      'members.role',
      'users.disabled_at as disabledAt',
      'members.created_at as createdAt',
    ])
    .where('members.account_id', '=', accountId)
}

/** The members of an account by e-mail address, also disabled users. */
export function listMembers(db: Database, accountId: string): Promise<Member[]> {
  return memberRows(db, accountId).orderBy('users.email').execute()
}

export async function findMember(
  db: Database,
  accountId: string,
  userId: string,
): Promise<Member | undefined> {
  if (!isUuid(accountId) || !isUuid(userId)) return undefined
  return memberRows(db, accountId).where('users.id', '=', userId).executeTakeFirst()
}

/** The live accounts in which a user has a role, by name. */
export function listMemberships(db: Database, userId: string): Promise<Row<typeof membership>[]> {
  return db
    .selectFrom('members')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .select(['accounts.id as accountId', 'accounts.name as accountName', 'members.role'])
    .where('members.user_id', '=', userId)
    .where('accounts.revoked_at', 'is', null)
    .orderBy('accounts.name')
    .execute()
}

/** Gives a user a role, in place of an earlier one. */
export async function putMember(
  db: Database,
  accountId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await db
    .insertInto('members')
    .values({ account_id: accountId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['account_id', 'user_id']).doUpdateSet({ role }))
    .execute()
}

/** The most members of an account. */
const MAX_MEMBERS = 200

/** Gives a user a role in the account; one who has a higher role keeps it. @returns false when it is not live */
export async function addMember(
  { trx, record }: AuditChange,
  accountId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  if (!(await lockOwner(trx, 'account', accountId))) return false
  const before = await findMember(trx, accountId, userId)
  if (before !== undefined && mayAct(before.role, role)) return true
  await putMember(trx, accountId, userId, role)
  if ((await listMembers(trx, accountId)).length > MAX_MEMBERS)
    throw new TenantLimitError('account', MAX_MEMBERS, 'members')
  const after = { userId, role }
  const entry = { objectId: userId, accountId, appId: null }
  await record({ action: 'member.create', ...entry, before: before && rolesOf(before), after })
  return true
}

function rolesOf({ userId, role }: Member) {
  return { userId, role }
}

/** Gives a member another role; undefined = no such member. Throws LastAdminError. */
export async function changeRole(
  change: AuditChange,
  accountId: string,
  userId: string,
  role: Role,
): Promise<Member | undefined> {
  const { trx, record } = change
  const before = await lockMember(change, accountId, userId)
  if (before === undefined) return undefined
  await putMember(trx, accountId, userId, role)
  await requireAdminLeft(change, accountId, before)
  if (role !== 'admin') await deleteInvitationsOf(trx, asInviter(before), accountId)
  const after = { ...before, role }
  const entry = { objectId: userId, accountId, appId: null }
  await record({
    action: 'member.update',
    ...entry,
    before: rolesOf(before),
    after: rolesOf(after),
  })
  return after
}

/** Takes a member's role, and the invitations that the member made. @returns false when there is no such member */
export async function removeMember(
  change: AuditChange,
  accountId: string,
  userId: string,
): Promise<boolean> {
  const { trx, record } = change
  const before = await lockMember(change, accountId, userId)
  if (before === undefined) return false
  await trx
    .deleteFrom('members')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .execute()
  await requireAdminLeft(change, accountId, before)
  await deleteInvitationsOf(trx, asInviter(before), accountId)
  const entry = { objectId: userId, accountId, appId: null }
  await record({ action: 'member.delete', ...entry, before: rolesOf(before) })
  return true
}

function asInviter({ userId, email }: Member) {
  return { id: userId, email }
}

async function lockMember(
  { trx }: AuditChange,
  accountId: string,
  userId: string,
): Promise<Member | undefined> {
  await lockOwner(trx, 'account', accountId)
  return findMember(trx, accountId, userId)
}

/** Members that were locked before: of two admins who demote each other at once, one stays. */
async function requireAdminLeft(
  { trx }: AuditChange,
  accountId: string,
  { role, disabledAt }: Member,
): Promise<void> {
  if (role !== 'admin' || disabledAt !== null) return
  const members = await listMembers(trx, accountId)
  if (!members.some((member) => member.role === 'admin' && member.disabledAt === null))
    throw new LastAdminError('admin of this account')
}

/** The users who have a role in an account. */
export const memberRoutes = [
  route('GET /members', {
    summary: 'The users who have a role in the account',
    role: 'viewer',
    answer: listOf(member),
    run: ({ context, accountId }) => listMembers(context.database, accountId),
  }),
  route('PATCH /members/{userId}', {
    summary: 'Change a role; the last admin stays one',
    role: 'admin',
    body: z.strictObject({ role }),
    answer: member,
    async run({ change, accountId, params, body }) {
      const changed = await change((audit) =>
        changeRole(audit, accountId, params.userId, body.role),
      )
      if (changed === undefined) throw new NotFoundError('Member')
      return changed
    },
  }),
  route('DELETE /members/{userId}', {
    summary: 'Remove a member, and the invitations that the member made',
    role: 'admin',
    answer: done,
    async run({ change, accountId, params }) {
      const removed = await change((audit) => removeMember(audit, accountId, params.userId))
      if (!removed) throw new NotFoundError('Member')
      return true
    },
  }),
]
