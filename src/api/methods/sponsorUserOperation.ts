import { UnsupportedTokenError } from '../../errors/sponsorshipErrors.js'
import type { MethodContext } from '../rpc/method.js'
import type { SponsoredMode, TokenMode, VersionedSponsorship } from '../rpc/signatures.js'

/**
 * pm_sponsorUserOperation, and pm_getFeeQuoteOrData, which in mode SPONSORED is the same and in
 * mode ERC20 fails the same as long as no token is configured. A refusal is a result.
 */
export const sponsorUserOperation = async (
  request: SponsoredMode | TokenMode,
  { chain, appId }: MethodContext,
): Promise<VersionedSponsorship> => {
  if (request.mode === 'ERC20') throw new UnsupportedTokenError(request.tokens, chain.chainId)
  const { entryPoint, draft, calculateGasLimits, expiryDuration, webhookData } = request
  const result = await chain.sponsor({
    appId,
    entryPoint,
    draft,
    calculateGasLimits,
    expiryDuration,
    webhookData,
  })
  return { ...result, version: entryPoint.version }
}
