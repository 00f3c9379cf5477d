import type { Method } from '../rpc/method.js'

/** ERC-7677: data of the final length to estimate with. No webhook is asked for a stub. */
export const getPaymasterStubData: Method<'pm_getPaymasterStubData'> = async (
  request,
  { chain, appId },
) => {
  const { version } = request.entryPoint
  if (request.mode === 'ERC20') {
    const payer = await chain.tokens.stub({ ...request, appId })
    return { payer, version, separateSignature: false, isFinal: false }
  }
  const { mode, separateSignature, refusal, ...asked } = request
  const payer = await chain.stub({ ...asked, appId, webhookData: undefined })
  const isFinal = request.signingPhase === 'commit'
  return { payer, version, separateSignature, isFinal }
}
