import type { Actor } from '../../src/tenants/audit.js'

/** Who the client of a test is. */
export const testActor: Actor = { kind: 'command', id: 'test', ip: null, requestId: null }
