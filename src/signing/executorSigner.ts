import type { Address, Hex, SignedAuthorization } from 'viem'
import { keccak, toHex } from '../evm/index.js'
import { encodeTransaction } from './encodeTransaction.js'

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

/** A key that sends transactions, wherever it is kept. */
export type ExecutorSigner = {
  /** Lower case. */
  readonly address: Address
  /**
   * The signed bytes, ready for eth_sendRawTransaction.
   * @throws SignerUnavailableError when the key is kept elsewhere and cannot be reached
   */
  signTransaction(transaction: ExecutorTransaction): Promise<Hex>
}

/** `s` is in the lower half (EIP-2). */
export type EcdsaSignature = { readonly r: Hex; readonly s: Hex; readonly yParity: 0 | 1 }

/** A signer of EIP-1559 and EIP-7702 transactions over a key that signs 32-byte digests. */
export function createSigner(
  address: Address,
  signDigest: (digest: Hex) => Promise<EcdsaSignature>,
): ExecutorSigner {
  return {
    address: address.toLowerCase() as Address,
    async signTransaction(transaction) {
      const signature = await signDigest(toHex(keccak(encodeTransaction(transaction))))
      return toHex(encodeTransaction(transaction, signature))
    },
  }
}
