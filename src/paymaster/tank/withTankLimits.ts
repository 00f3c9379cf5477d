import { greatest } from '../../base/bigints.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { PaymasterStub } from '../sponsoredDraft.js'
import { tokenVerificationGas } from '../token/tokenGas.js'
import { parseTokenData } from '../tokenData.js'

type TankLimits = Pick<PaymasterStub, 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'>

/**
 * The draft, whose paymaster is a tank of ours, with limits for it that are not below those that the tank
 * signs (v0.7 and later): clients that keep the limits of their estimate would else send others (AA34).
 */
export function withTankLimits(draft: Draft, least: TankLimits): Draft {
  return {
    ...draft,
    paymasterVerificationGasLimit: greatest(
      draft.paymasterVerificationGasLimit ?? 0n,
      least.paymasterVerificationGasLimit,
    ),
    paymasterPostOpGasLimit: greatest(
      draft.paymasterPostOpGasLimit ?? 0n,
      least.paymasterPostOpGasLimit,
    ),
  }
}

/** The limits with which a token tank signs data like that of the draft; undefined for other data. */
export function tokenTankLimits(
  draft: Draft,
  tokens: readonly TokenDefinition[],
): TankLimits | undefined {
  const quote = parseTokenData(draft.paymasterData)?.quote
  const token = tokens.find(({ address }) => address === quote?.token)
  if (quote === undefined || token === undefined) return undefined
  return {
    paymasterVerificationGasLimit: tokenVerificationGas(draft, quote.mode, token.extraCallGas),
    paymasterPostOpGasLimit: quote.postOpGas,
  }
}
