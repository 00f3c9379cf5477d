import type { Address, Hex } from 'viem'
import { keccak, toHex } from '../evm/index.js'
import { encodeTransaction } from './encodeTransaction.js'
import type { EcdsaSignature, ExecutorTransaction } from './executorTransaction.js'

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
