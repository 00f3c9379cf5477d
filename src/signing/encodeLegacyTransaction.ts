import { encodeRlp, fromHex, integerBytes, type RlpItem } from '../evm/index.js'
import type { EcdsaSignature, ExecutorTransaction } from './executorTransaction.js'

/** EIP-155: what `v` is above twice the chain id and the parity. */
const REPLAY_PROTECTED = 35n

/**
 * The bytes of a transaction without a type (EIP-155), whose gas price is the tip: what it would pay where the base fee is
 * 0. With a signature those that are sent, without one those that are hashed for the signature. It carries no authorizations.
 */
export function encodeLegacyTransaction(
  transaction: ExecutorTransaction,
  signature?: EcdsaSignature,
): Uint8Array {
  const { nonce, to, data, value = 0n, gas, authorizationList = [] } = transaction
  if (authorizationList.length > 0)
    throw new Error('a legacy transaction carries no authorizations')
  const chainId = BigInt(transaction.chainId)
  const fields: RlpItem[] = [
    ...[BigInt(nonce), transaction.maxPriorityFeePerGas, gas].map(integerBytes),
    fromHex(to),
    integerBytes(value),
    fromHex(data),
  ]
  const ending = signature
    ? [
        REPLAY_PROTECTED + 2n * chainId + BigInt(signature.yParity),
        BigInt(signature.r),
        BigInt(signature.s),
      ]
    : [chainId, 0n, 0n]
  return encodeRlp([...fields, ...ending.map(integerBytes)])
}
