import type { Method } from '../rpc/method.js'

export const estimateUserOperationGas: Method<'eth_estimateUserOperationGas'> = (
  { entryPoint, draft, stateOverride },
  { chain, appId },
) => chain.estimate(entryPoint, draft, stateOverride, appId)
