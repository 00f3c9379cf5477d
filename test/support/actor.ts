import type { Actor } from '../../src/tenants/audit.js'

/** Whoever a test is. */
export const testActor: Actor = { kind: 'command', id: 'test', ip: null, requestId: null }
