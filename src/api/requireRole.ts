import { ForbiddenError } from '../errors/restErrors.js'
import type { Role } from '../store/schema.js'
import { mayAct } from '../tenancy/roles.js'

/** Throws ForbiddenError where the role does not suffice. */
export function requireRole(role: Role, needed: Role): void {
  if (!mayAct(role, needed)) throw new ForbiddenError(`the role ${needed}`)
}
