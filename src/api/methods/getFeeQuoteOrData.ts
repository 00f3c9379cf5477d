import type { Method } from '../rpc/method.js'
import { sponsored } from './sponsorUserOperation.js'

/** pm_getFeeQuoteOrData: what tokens would be taken, or in mode SPONSORED the sponsorship itself. */
export const getFeeQuoteOrData: Method<'pm_getFeeQuoteOrData'> = async (request, context) => {
  if (request.mode === 'SPONSORED') return sponsored(request, context)
  const { chain, appId } = context
  return { mode: 'QUOTES', ...(await chain.tokens.quote({ ...request, appId })) }
}
