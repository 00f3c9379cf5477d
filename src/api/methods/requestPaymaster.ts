import type { PurserError } from '../../errors/purserError.js'
import { SponsorshipRefusedError } from '../../errors/sponsorshipErrors.js'
import type { PaymasterRequest, SponsoredMode } from '../dialects/decode/paymasterRequest.js'
import type {
  PaymasterAnswer,
  QuotesAnswer,
  VersionedSponsorship,
} from '../dialects/paymasterAnswer.js'
import type { MethodContext } from './method.js'

/** Data signed by a tank, which gives the gas or takes tokens for it. */
export async function requestPaymaster(
  request: PaymasterRequest,
  context: MethodContext,
): Promise<PaymasterAnswer> {
  if (request.mode === 'SPONSORED') return requestSponsorship(request, context)
  const { chain, appId } = context
  const payment = await chain.tokens.pay({ ...request, appId })
  const { version } = request.entryPoint
  return { mode: 'ERC20', ...payment, version, separateSignature: false }
}

/**
 * A refusal is a result in the interface's own form. Everywhere else throws SponsorshipRefusedError:
 * clients there know none, and would sign an operation without a paymaster or fail on a missing field.
 */
export async function requestSponsorship(
  request: SponsoredMode,
  { chain, appId }: MethodContext,
): Promise<VersionedSponsorship> {
  const { mode, separateSignature, refusal, ...sponsorship } = request
  const result = await chain.sponsor({ ...sponsorship, appId })
  if (refusal === 'error' && !result.decision.sponsored)
    throw new SponsorshipRefusedError(result.decision)
  return { ...result, mode, version: request.entryPoint.version, separateSignature }
}

/** The error that a sponsorship refused by a result would be elsewhere. */
export function refusalOf(answer: PaymasterAnswer | QuotesAnswer): PurserError | undefined {
  return answer.mode !== 'SPONSORED' || answer.decision.sponsored
    ? undefined
    : new SponsorshipRefusedError(answer.decision)
}
