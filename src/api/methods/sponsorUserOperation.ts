import { SponsorshipRefusedError } from '../../errors/sponsorshipErrors.js'
import { UnsupportedTokenError } from '../../errors/tokenErrors.js'
import type { MethodContext } from '../rpc/method.js'
import type { SponsoredMode, TokenMode, VersionedSponsorship } from '../rpc/signatures.js'

/**
 * pm_sponsorUserOperation, pm_getPaymasterData (ERC-7677), and pm_getFeeQuoteOrData, which in mode
 * SPONSORED is the same and in mode ERC20 fails the same as long as no token is configured. A refusal
 * is a result in the interface's own form. Everywhere else throws SponsorshipRefusedError: clients
 * there know none, and would sign an operation without a paymaster or fail on a missing field.
 */
export const sponsorUserOperation = async (
  request: SponsoredMode | TokenMode,
  { chain, appId }: MethodContext,
): Promise<VersionedSponsorship> => {
  if (request.mode === 'ERC20') throw new UnsupportedTokenError(request.tokens, chain.chainId, [])
  const { mode, separateSignature, refusal, ...asked } = request
  const result = await chain.sponsor({ ...asked, appId })
  if (refusal === 'error' && !result.decision.sponsored)
    throw new SponsorshipRefusedError(result.decision)
  return { ...result, version: request.entryPoint.version, separateSignature }
}
