import type { Address, Hex, SignedAuthorization, TransactionSerializable } from 'viem'
import { serializeTransaction } from 'viem/utils'
import { keccak } from '../entrypoint/keccak.js'

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
export type Signature = { readonly r: Hex; readonly s: Hex; readonly yParity: 0 | 1 }

/** A signer of EIP-1559 and EIP-7702 transactions over a key that signs 32-byte digests. */
export const createSigner = (
  address: Address,
  signDigest: (digest: Hex) => Promise<Signature>,
): ExecutorSigner => ({
  address: address.toLowerCase() as Address,
  async signTransaction(transaction) {
    const typed = withType(transaction)
    const signature = await signDigest(`0x${keccak(serializeTransaction(typed).slice(2))}`)
    return serializeTransaction(typed, signature)
  },
})

const withType = ({
  authorizationList = [],
  ...transaction
}: ExecutorTransaction): TransactionSerializable =>
  authorizationList.length === 0
    ? { type: 'eip1559', ...transaction }
    : { type: 'eip7702', authorizationList: [...authorizationList], ...transaction }
