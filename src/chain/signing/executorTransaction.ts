import type { Address, Hex, SignedAuthorization } from 'viem'
import { encodeRlp, fromHex, integerBytes, keccak, type RlpItem, toHex } from '../../evm/index.js'

/** A transaction of an executor, before it is signed. Gas in gas, fees in wei per gas. */
export type ExecutorTransaction = {
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly data: Hex
  /** wei; absent = 0 */
  readonly value?: bigint
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** EIP-7702: applied before the operations run. Empty = a transaction without such a list. */
  readonly authorizationList?: readonly SignedAuthorization[]
}

/** A signature of a transaction's hash; `s` is in the lower half (EIP-2). */
export type EcdsaSignature = { readonly r: Hex; readonly s: Hex; readonly yParity: 0 | 1 }

/** A key that sends transactions, wherever it is kept. */
export type ExecutorSigner = {
  /** Lower case. */
  readonly address: Address
  /** Whether it signs transactions with authorizations (EIP-7702). */
  readonly signsAuthorizations: boolean
  /**
   * The signed bytes, ready for eth_sendRawTransaction.
   * @throws SignerUnavailableError when the key is kept elsewhere and cannot be reached
   */
  signTransaction(transaction: ExecutorTransaction): Promise<Hex>
}

/** A signer of EIP-1559 and EIP-7702 transactions over a key that signs their digests, 32 bytes each. */
export function createSigner(
  address: Address,
  sign: (digest: Hex, transaction: ExecutorTransaction) => Promise<EcdsaSignature>,
  signsAuthorizations = true,
): ExecutorSigner {
  return {
    address: address.toLowerCase() as Address,
    signsAuthorizations,
    async signTransaction(transaction) {
      const digest = toHex(keccak(encodeTransaction(transaction)))
      const signature = await sign(digest, transaction)
      return toHex(encodeTransaction(transaction, signature))
    },
  }
}

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
