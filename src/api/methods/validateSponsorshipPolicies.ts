import { InvalidParamsError } from '../../errors/requestErrors.js'
import type { Method } from '../rpc/method.js'

/**
 * pm_validateSponsorshipPolicies: what would be decided and what each policy says. Asks no webhook,
 * reserves and records nothing.
 */
export const validateSponsorshipPolicies: Method<'pm_validateSponsorshipPolicies'> = async (
  request,
  { chain, appId },
) => {
  if (request.mode === 'ERC20')
    throw new InvalidParamsError(
      'params[3].mode',
      'must be "SPONSORED": policies do not judge what users pay.',
    )
  const { mode, separateSignature, refusal, ...asked } = request
  return chain.previewSponsorship({ ...asked, appId })
}
