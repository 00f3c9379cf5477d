import type { Method } from '../rpc/method.js'

/** Idempotent: clients retry it, and a known operation gives its hash again. */
export const sendUserOperation: Method<'eth_sendUserOperation'> = (
  { entryPoint, operation, simulateExecution },
  { chain, appId },
) => chain.admit(entryPoint, operation, { appId, simulateExecution })
