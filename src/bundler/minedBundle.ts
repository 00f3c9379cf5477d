import type { Address } from 'viem'
import { parseTransaction } from 'viem/utils'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { BundleTransaction } from '../simulation/chainEngine.js'
import { ownBundleTransaction } from './outbox/bundles.js'

/** A bundle of ours that was mined. */
export type MinedBundle = {
  readonly receipt: TransactionReceipt
  readonly entryPoint: EntryPoint
}

/** The transaction of a bundle as we sent it; undefined where it is not ours. */
export async function sentTransaction(
  { database, chainId }: { readonly database: Database; readonly chainId: number },
  { transactionHash, from, effectiveGasPrice }: TransactionReceipt,
): Promise<BundleTransaction | undefined> {
  const own = await ownBundleTransaction(database, chainId, transactionHash)
  if (own === undefined) return undefined
  const { data = '0x', gas = 0n, authorizationList = [] } = parseTransaction(own.raw)
  const authorizations = authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
    chainId: BigInt(chainId),
    address: address.toLowerCase() as Address,
    nonce: BigInt(nonce),
    yParity: yParity ?? 0,
    r: BigInt(r),
    s: BigInt(s),
  }))
  return { from, data, gas: Number(gas), gasPrice: effectiveGasPrice, authorizations }
}
