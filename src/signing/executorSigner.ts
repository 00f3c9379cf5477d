import type { Address, Hex } from 'viem'
import { keccak, toHex } from '../evm/index.js'
import { encodeLegacyTransaction } from './encodeLegacyTransaction.js'
import { encodeTransaction } from './encodeTransaction.js'
import type { EcdsaSignature, ExecutorTransaction } from './executorTransaction.js'
import type { TransactionType } from './transactionType.js'

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

const encoders = { eip1559: encodeTransaction, legacy: encodeLegacyTransaction } as const

/** A signer of transactions of this type (EIP-7702 ones beside EIP-1559) over a key that signs 32-byte digests. */
export function createSigner(
  address: Address,
  type: TransactionType,
  signDigest: (digest: Hex) => Promise<EcdsaSignature>,
): ExecutorSigner {
  const encode = encoders[type]
  return {
    address: address.toLowerCase() as Address,
    async signTransaction(transaction) {
      const signature = await signDigest(toHex(keccak(encode(transaction))))
      return toHex(encode(transaction, signature))
    },
  }
}
