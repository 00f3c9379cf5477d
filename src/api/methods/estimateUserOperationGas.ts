import type { Method } from '../rpc/method.js'

export const estimateUserOperationGas: Method<'eth_estimateUserOperationGas'> = (
  { entryPoint, draft, stateOverride },
  { chain },
) => chain.estimate(entryPoint, draft, stateOverride)
