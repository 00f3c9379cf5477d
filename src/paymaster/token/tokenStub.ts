import type { Address } from 'viem'
import { largestOfWidth } from '../../base/bigints.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { PaymasterStub } from '../sponsoredDraft.js'
import { stubSignature } from '../tank/tankData.js'
import { encodeTokenData, type Permit, type TokenQuote } from '../tokenData.js'
import { tokenVerificationGas } from './tokenGas.js'

/**
 * The quote to estimate with: at no more than 255 millionths of the price, because an estimate runs with
 * limits far above those that are signed, for which the sender need not have the tokens. No byte of the
 * rate is zero, so that the data of another rate cost no more. The times, which hold for ever, have more
 * bytes that are not zero, to make up for those that the markup may lack.
 */
function measured(quote: TokenQuote): TokenQuote {
  return {
    ...quote,
    rate: largestOfWidth(quote.rate),
    markup: 1,
    validAfter: 1,
    validUntil: 2 ** 48 - 1,
  }
}

type StubTerms = {
  readonly quote: TokenQuote
  readonly permit: Permit | undefined
  /** gas of a call of the token beyond a plain one, see tokenGas.ts */
  readonly perCall: bigint
}

/** The token tank's part of an operation, of final length, to estimate with. */
export function tokenStub(
  paymaster: Address,
  { quote, permit, perCall }: StubTerms,
  { hasPaymasterLimits }: Pick<EntryPoint, 'hasPaymasterLimits'>,
  draft: Draft,
): PaymasterStub {
  return {
    paymaster,
    paymasterVerificationGasLimit: hasPaymasterLimits
      ? tokenVerificationGas(draft, quote.mode, perCall)
      : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? quote.postOpGas : 0n,
    paymasterData: encodeTokenData({ quote: measured(quote), signature: stubSignature, permit }),
  }
}
