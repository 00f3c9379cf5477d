import { accountId } from './call.js'
import { session } from './session.js'
import { isReader } from './share.js'
import type { SessionAnswer } from './shapes.js'

export type Role = SessionAnswer['memberships'][number]['role']

const order: readonly Role[] = ['viewer', 'developer', 'admin']

/** The role of the user in the account: operators act in any account as its admin. */
export function roleHere(): Role | undefined {
  const { memberships = [], user } = session.value ?? {}
  const membership = memberships.find((each) => each.accountId === accountId.value)
  return membership?.role ?? (user?.isOperator ? 'admin' : undefined)
}

/** Whether the user may have an operation run again: readers of a link may, for its operation. */
export function mayRun(): boolean {
  return isReader || mayAct('developer')
}

/** Whether the user may do what needs a role. The service decides; the console only does not offer it. */
export function mayAct(needed: Role): boolean {
  const role = roleHere()
  return role !== undefined && order.indexOf(role) >= order.indexOf(needed)
}
