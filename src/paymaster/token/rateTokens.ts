import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { TokenPriceError } from '../../errors/tokenErrors.js'
import { recentPrice } from '../../policy/price.js'
import type { RatesRequest, TokenRate, TokenRates } from '../tokenPayment.js'
import { requireTokenTank } from './tokenCase.js'
import { tokenCharge, unlimitedGas } from './tokenCharge.js'
import type { TokenParts } from './tokenContext.js'
import { tokenPostOpGas } from './tokenGas.js'

/** The wei in whose units rates are given. */
const ONE_COIN = 10n ** 18n

/**
 * The rates by which tokens pay for gas, without an operation to pay for. A token that the chain does not
 * take, or that has no reliable price now, is left out: clients look for theirs in the answer. Throws
 * TokenPaymentError (NO_TOKEN_TANK).
 */
export async function rateTokens(parts: TokenParts, request: RatesRequest): Promise<TokenRates> {
  const { chainId, tokens } = parts.definition
  const { appId, entryPoint, tokens: wanted } = request
  const chosen = tokens.filter(({ address }) => wanted.includes(address))
  const price = recentPrice(await parts.terms.prices(chainId), unixNow(), parts.terms.maxPriceAge)
  const [first] = chosen
  if (first === undefined) return { rates: [], nativePrice: price?.microUsd }
  const tank = await requireTokenTank(parts, appId, entryPoint, first.address)
  const answers = await Promise.all(
    chosen.map((token) => rateToken(parts, token, entryPoint, tank.address)),
  )
  return {
    rates: answers.filter((answer) => answer !== undefined),
    nativePrice: price?.microUsd,
  }
}

async function rateToken(
  { prices }: TokenParts,
  token: TokenDefinition,
  entryPoint: EntryPoint,
  paymaster: TokenRate['paymaster'],
): Promise<TokenRate | undefined> {
  try {
    const rate = await prices.rate(token)
    const { markup, treasury = zeroAddress, extraCallGas } = token
    const mode = 'afterwards'
    const postOpGas = tokenPostOpGas({ mode, treasury }, extraCallGas)
    return {
      token,
      paymaster,
      markedUpRate: tokenCharge(ONE_COIN, { rate, markup }),
      extraGas: postOpGas + unlimitedGas(entryPoint, { mode, postOpGas }),
    }
  } catch (error) {
    if (error instanceof TokenPriceError) return undefined
    throw error
  }
}
