import type { Hex, SignedAuthorization } from 'viem'
import { encodeRlp, fromHex, integerBytes, type RlpItem } from '../evm/index.js'
import type { EcdsaSignature, ExecutorTransaction } from './executorTransaction.js'

/**
 * The bytes of a transaction (EIP-1559, or EIP-7702 where it carries authorizations): with a signature
 * those that are sent, without one those that are hashed for the signature.
 */
export function encodeTransaction(
  transaction: ExecutorTransaction,
  signature?: EcdsaSignature,
): Uint8Array {
  const { chainId, nonce, to, data, value = 0n, gas, authorizationList = [] } = transaction
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  const delegates = authorizationList.length > 0
  const fields: RlpItem[] = [
    ...[BigInt(chainId), BigInt(nonce), maxPriorityFeePerGas, maxFeePerGas, gas].map(integerBytes),
    fromHex(to),
    integerBytes(value),
    fromHex(data),
    [],
  ]
  if (delegates) fields.push(authorizationList.map(tuple))
  if (signature) fields.push(...signed(signature))
  const body = encodeRlp(fields)
  const typed = new Uint8Array(1 + body.length)
  typed[0] = delegates ? 4 : 2
  typed.set(body, 1)
  return typed
}

function tuple({ chainId, address, nonce, ...signature }: SignedAuthorization): RlpItem {
  return [
    integerBytes(BigInt(chainId)),
    fromHex(address),
    integerBytes(BigInt(nonce)),
    ...signed({ ...signature, yParity: signature.yParity === 1 ? 1 : 0 }),
  ]
}

/** A signature as three integers, without leading zeros. */
function signed({ yParity, r, s }: { yParity: 0 | 1; r: Hex; s: Hex }): RlpItem[] {
  return [BigInt(yParity), BigInt(r), BigInt(s)].map(integerBytes)
}
