import type { Operation } from '../../entrypoint/operation.js'
import { type SigningDomain, signForTank, type TankSigner } from '../tank/signForTank.js'
import type { TankOperation } from '../tank/tankTypedData.js'
import { encodeTokenData, type TokenTerms, tokenPaymentHash } from '../tokenData.js'

/**
 * `op`, which names its token tank as paymaster, with the tank's paymasterData. On v0.7 and later
 * its paymasterPostOpGasLimit must be the quote's postOpGas, or the tank would revert: throws
 * RangeError.
 */
export function signTokenPayment(
  op: TankOperation,
  { entryPoint, chainId, contract, delegate }: SigningDomain,
  terms: TokenTerms,
  signer: TankSigner,
): Operation {
  const { quote, permit } = terms
  if (entryPoint.hasPaymasterLimits && op.paymasterPostOpGasLimit !== quote.postOpGas) {
    throw new RangeError('The quote must be for the paymasterPostOpGasLimit of the operation.')
  }
  const hash = tokenPaymentHash(op, entryPoint, chainId, terms, delegate, contract)
  const signature = signForTank(hash, op.paymaster, signer)
  return { ...op, paymasterData: encodeTokenData({ quote, signature, permit }) }
}
