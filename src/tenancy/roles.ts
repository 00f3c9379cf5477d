import type { Role } from '../base/vocabulary.js'

/** Each role may do what those before it may: read; test and integrate; decide about money and people. */
export const roles: readonly [Role, ...Role[]] = ['viewer', 'developer', 'admin']

/** Whether who has the role may do what needs the other one. */
export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}
