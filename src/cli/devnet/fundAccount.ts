import type { Address } from 'viem'
import { devWallet } from './devWallet.js'

/** Sends `wei` from the development chain's funder and waits until it has arrived. */
export async function fundAccount(rpcUrl: string, to: Address, wei: bigint): Promise<void> {
  const wallet = await devWallet(rpcUrl)
  await wallet.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to, value: wei }) })
}
