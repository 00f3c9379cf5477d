import type { Role } from '../../base/vocabulary.js'
import type { Database } from '../database.js'
import { isUuid } from '../uuid.js'

/** A user with a role in an account. */
export type Member = {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly disabledAt: Date | null
  readonly createdAt: Date
}

/** An account in which a user has a role. */
export type Membership = {
  readonly accountId: string
  readonly accountName: string
  readonly role: Role
}

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
export function listMemberships(db: Database, userId: string): Promise<Membership[]> {
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

export async function deleteMember(db: Database, accountId: string, userId: string): Promise<void> {
  await db
    .deleteFrom('members')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .execute()
}
