import { hasUsers, lockUsers } from '../store/people/users.js'
import { audited } from '../store/tenants/audit.js'
import type { AccessContext } from './checkPassword.js'
import { createUser, requireEmail } from './manageUsers.js'
import { requireGoodPassword } from './requireGoodPassword.js'

/**
 * Makes the operator whom the configuration names, where there is no user at all. A later change of the
 * configuration changes no password. Throws WeakPasswordError, InvalidFieldError.
 */
export async function createFirstUser(
  { database, passwords }: Pick<AccessContext, 'database' | 'passwords'>,
  configured: { readonly email: string; readonly password: string },
): Promise<void> {
  const email = requireEmail(configured.email)
  requireGoodPassword(configured.password, email)
  if (await hasUsers(database)) return
  const passwordHash = await passwords.hash(configured.password, 'configuration')
  const actor = { kind: 'operator', id: null, ip: null, requestId: null } as const
  await audited(database, actor, async (change) => {
    await lockUsers(change.trx)
    if (await hasUsers(change.trx)) return
    await createUser(change, { email, name: email, isOperator: true, passwordHash })
  })
}
