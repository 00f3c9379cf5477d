import { UnsupportedTokenError } from '../../errors/sponsorshipErrors.js'
import type { Method } from '../rpc/method.js'

/** ERC-7677: data of the final length to estimate with. No webhook is asked for a stub. */
export const getPaymasterStubData: Method<'pm_getPaymasterStubData'> = async (
  request,
  { chain, appId },
) => {
  if (request.mode === 'ERC20') throw new UnsupportedTokenError(request.tokens, chain.chainId)
  const { entryPoint, draft, calculateGasLimits, expiryDuration } = request
  const stub = await chain.stub({
    appId,
    entryPoint,
    draft,
    calculateGasLimits,
    expiryDuration,
    webhookData: undefined,
  })
  return { ...stub, version: entryPoint.version }
}
