import { SponsorshipRefusedError } from '../../errors/sponsorshipErrors.js'
import type { MethodContext } from '../rpc/method.js'
import type {
  PaymasterAnswer,
  SponsoredMode,
  TokenModeParams,
  VersionedSponsorship,
} from '../rpc/signatures.js'

/**
 * pm_sponsorUserOperation and pm_getPaymasterData (ERC-7677): signed by a tank, which gives the gas or
 * takes tokens for it.
 */
export async function sponsorUserOperation(
  request: SponsoredMode | TokenModeParams,
  context: MethodContext,
): Promise<PaymasterAnswer> {
  if (request.mode === 'SPONSORED') return sponsored(request, context)
  const { chain, appId } = context
  const payment = await chain.tokens.pay({ ...request, appId })
  const { version } = request.entryPoint
  return { mode: 'ERC20', ...payment, version, separateSignature: false }
}

/**
 * A refusal is a result in the interface's own form. Everywhere else throws SponsorshipRefusedError:
 * clients there know none, and would sign an operation without a paymaster or fail on a missing field.
 */
export async function sponsored(
  request: SponsoredMode,
  { chain, appId }: MethodContext,
): Promise<VersionedSponsorship> {
  const { mode, separateSignature, refusal, ...asked } = request
  const result = await chain.sponsor({ ...asked, appId })
  if (refusal === 'error' && !result.decision.sponsored)
    throw new SponsorshipRefusedError(result.decision)
  return { ...result, mode, version: request.entryPoint.version, separateSignature }
}
