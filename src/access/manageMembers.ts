import type { Role } from '../base/vocabulary.js'
import { TenantLimitError } from '../errors/limitErrors.js'
import { LastAdminError } from '../errors/restErrors.js'
import { deleteInvitationsOf } from '../store/people/invitations.js'
import {
  deleteMember,
  findMember,
  listMembers,
  type Member,
  putMember,
} from '../store/people/members.js'
import { lockLiveAccount } from '../store/tenants/accounts.js'
import type { AuditChange } from '../store/tenants/audit.js'
import { mayAct } from '../tenancy/roles.js'

/** The most members of an account. */
const MAX_MEMBERS = 200

/** Gives a user a role in the account; one who has a higher role keeps it. @returns false when it is not live */
export async function addMember(
  { trx, record }: AuditChange,
  accountId: string,
  userId: string,
  role: Role,
): Promise<boolean> {
  if (!(await lockLiveAccount(trx, accountId))) return false
  const before = await findMember(trx, accountId, userId)
  if (before !== undefined && mayAct(before.role, role)) return true
  await putMember(trx, accountId, userId, role)
  if ((await listMembers(trx, accountId)).length > MAX_MEMBERS)
    throw new TenantLimitError('account', `${MAX_MEMBERS} members`)
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
  await deleteMember(trx, accountId, userId)
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
  await lockLiveAccount(trx, accountId)
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
