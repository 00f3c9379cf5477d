import { SponsorshipRefusedError } from '../../errors/sponsorshipErrors.js'
import type { Method } from '../rpc/method.js'
import { sponsorUserOperation } from './sponsorUserOperation.js'

/** ERC-7677. Its result has no form for a refusal, so a refusal is an error here. */
export const getPaymasterData: Method<'pm_getPaymasterData'> = async (request, context) => {
  const result = await sponsorUserOperation(request, context)
  if (!result.decision.sponsored) throw new SponsorshipRefusedError(result.decision)
  return result
}
