import type { Hex } from 'viem'
import { stubSignature } from '../../../src/gas/placeholder.js'
import { encodeTokenData, type TokenQuote } from '../../../src/paymaster/tokenData.js'

/** The data of a token tank before signer and sender have signed: of the same length. */
export function stubTokenData(quote: TokenQuote): Hex {
  const most = 2n ** 256n - 1n
  const permit = { value: most, deadline: most, signature: stubSignature }
  return encodeTokenData({
    quote,
    signature: stubSignature,
    permit: quote.mode === 'permit' ? permit : undefined,
  })
}
