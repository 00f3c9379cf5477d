import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The transaction of a bundle, before it is signed. Gas in gas, fees in wei per gas. */
export type BundleTransaction = {
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly data: Hex
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A key that sends bundles. */
export type Executor = {
  readonly address: Address
  sign(transaction: BundleTransaction): Promise<Hex>
}

export function createExecutors(keys: readonly Hex[]): Executor[] {
  return keys.map((key) => {
    const account = privateKeyToAccount(key)
    return {
      address: account.address.toLowerCase() as Address,
      sign: (transaction) => account.signTransaction({ type: 'eip1559', ...transaction }),
    }
  })
}
