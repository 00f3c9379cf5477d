import { userInfo } from 'node:os'
import type { Actor } from '../tenants/audit.js'

/** A command acts as the system user who runs it. */
export function commandActor(): Actor {
  return {
    kind: 'command',
    id: userInfo().username,
    ip: null,
    requestId: null,
  }
}
