import { setTimeout as delay } from 'node:timers/promises'
import {
  createWalletClient,
  defineChain,
  type Hash,
  http,
  publicActions,
  TransactionReceiptNotFoundError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvilClient } from './anvilClient.js'
import { funderKey } from './devKeys.js'

/** Milliseconds after which a transaction is lost; only a defect needs them. */
const RECEIPT_DEADLINE = 60_000

/** A client that sends from the funder, on whatever chain `rpcUrl` serves. */
export async function devWallet(rpcUrl: string) {
  const chain = defineChain({
    id: await anvilClient(rpcUrl).getChainId(),
    name: 'development',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const wallet = createWalletClient({
    account: privateKeyToAccount(funderKey),
    chain,
    transport: http(rpcUrl, { retryCount: 0, batch: true }),
    pollingInterval: 20,
  }).extend(publicActions)

  /**
   * viem's own looks again when a block comes, and skips a block that comes while it looks. On a chain
   * that mines only what it is sent no other one may come.
   */
  const waitForTransactionReceipt = async ({ hash }: { readonly hash: Hash }) => {
    const end = Date.now() + RECEIPT_DEADLINE
    for (;;) {
      try {
        return await wallet.getTransactionReceipt({ hash })
      } catch (error) {
        if (!isUnknownYet(error) || Date.now() > end) throw error
      }
      await delay(wallet.pollingInterval)
    }
  }
  return { ...wallet, waitForTransactionReceipt }
}

/** A geth that has started recently does not say at first whether it has a transaction. */
function isUnknownYet(error: unknown): boolean {
  if (error instanceof TransactionReceiptNotFoundError) return true
  return error instanceof Error && /transaction indexing is in progress/.test(error.message)
}

export type DevWallet = Awaited<ReturnType<typeof devWallet>>
