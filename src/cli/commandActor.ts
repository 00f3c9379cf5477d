import { userInfo } from 'node:os'
import type { Actor } from '../store/tenants/audit.js'

/** A command acts for whoever may run it on this machine. */
export function commandActor(): Actor {
  return {
    kind: 'command',
    id: userInfo().username,
    ip: null,
    requestId: null,
  }
}
