import type { Actor } from '../../src/tenants/audit.js'

/** Who makes the changes of a test, as the audit log names it. */
export const testActor: Actor = { kind: 'command', id: 'test', ip: null, requestId: null }
