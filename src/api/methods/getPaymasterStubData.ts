import { UnsupportedTokenError } from '../../errors/tokenErrors.js'
import type { Method } from '../rpc/method.js'

/** ERC-7677: data of the final length to estimate with. No webhook is asked for a stub. */
export const getPaymasterStubData: Method<'pm_getPaymasterStubData'> = async (
  request,
  { chain, appId },
) => {
  if (request.mode === 'ERC20') throw new UnsupportedTokenError(request.tokens, chain.chainId, [])
  const { mode, separateSignature, refusal, ...asked } = request
  const payer = await chain.stub({ ...asked, appId, webhookData: undefined })
  const isFinal = request.signingPhase === 'commit'
  return { payer, version: request.entryPoint.version, separateSignature, isFinal }
}
