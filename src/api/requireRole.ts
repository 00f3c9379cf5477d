import type { Role } from '../base/vocabulary.js'
import { ForbiddenError } from '../errors/restErrors.js'
import { mayAct } from '../tenancy/roles.js'

/** Throws ForbiddenError where the role does not suffice. */
export function requireRole(role: Role, needed: Role): void {
  if (!mayAct(role, needed)) throw new ForbiddenError(`the role ${needed}`)
}
