import { TokenPriceError } from '../../../base/errors/sponsorshipErrors.js'
import type { OutboundClient } from '../../../base/outbound/guardedRequest.js'
import { unixNow } from '../../../base/unixNow.js'
import type { ChainDefinition } from '../../../chain/definition/chainDefinition.js'
import type { NodeClient } from '../../../chain/nodeClient.js'
import { createPrices } from '../../../paymaster/prices/createPrices.js'
import { type Finding, reporterOf } from '../finding.js'

/** Asks the sources of each token, and of the coin in USD, for the price, as a quote would. */
export async function checkPrices(
  node: NodeClient,
  { chainId, tokens, usdPrice, sequencerFeed }: ChainDefinition,
  client: OutboundClient,
): Promise<Finding[]> {
  const report = reporterOf('prices', chainId)
  const prices = createPrices({
    node,
    client,
    sequencer: sequencerFeed,
    maxAge: 0,
    now: unixNow,
  })
  return Promise.all(
    [...tokens, ...(usdPrice ? [usdPrice] : [])].map(async (token) => {
      try {
        const rate = await prices.rate(token)
        return report.ok(`${token.symbol}: ${rate} units for one native coin`)
      } catch (error) {
        if (!(error instanceof TokenPriceError)) throw error
        const remedy =
          token === usdPrice
            ? 'correct its sources; until then USD are of nativePrices, or budgets in USD refuse'
            : 'correct the token and its sources; until then nobody can pay in it'
        return report.fault(`${token.symbol} has no reliable price: ${error.reason}`, remedy)
      }
    }),
  )
}
