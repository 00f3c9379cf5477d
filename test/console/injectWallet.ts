import type { Page } from 'playwright-core'
import { createWalletClient, type Hex, http } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

type Call = { readonly method: string; readonly params?: readonly unknown[] }
type WalletTransaction = {
  readonly to: Hex
  readonly data: Hex
  readonly value: Hex
}

/** A wallet as a test sees it: its account, whether it declines what it is asked to sign, and when it gives receipts. */
export type InjectedWallet = {
  account: PrivateKeyAccount
  declines: boolean
  receipts: Promise<unknown>
}

/**
 * A wallet in the browser that announces itself (EIP-6963) and signs with a real key on a real chain. It keeps the key
 * and the node outside of the page, as wallets do. Pages that are loaded from now on find it.
 */
export async function injectWallet(
  page: Page,
  { rpcUrl, key }: { readonly rpcUrl: string; readonly key: Hex },
): Promise<InjectedWallet> {
  const wallet: InjectedWallet = {
    account: privateKeyToAccount(key),
    declines: false,
    receipts: Promise.resolve(),
  }
  const client = createWalletClient({ chain: foundry, transport: http(rpcUrl) })
  const answer = async ({ method, params = [] }: Call): Promise<unknown> => {
    if (method === 'eth_requestAccounts') return [wallet.account.address]
    if (method === 'eth_getTransactionReceipt') await wallet.receipts
    if (method !== 'eth_sendTransaction') return client.request({ method, params } as never)
    if (wallet.declines) return { declined: true }
    const { to, data, value } = params[0] as WalletTransaction
    return client.sendTransaction({ account: wallet.account, to, data, value: BigInt(value) })
  }
  await page.exposeFunction('askTestWallet', answer)
  await page.addInitScript(`
    const provider = {
      request: async (call) => {
        const answer = await window.askTestWallet(call)
        if (answer && answer.declined) throw Object.assign(new Error('User rejected'), { code: 4001 })
        return answer
      },
    }
    const info = { uuid: 'a-test-wallet', name: 'Test wallet', icon: 'data:,', rdns: 'example.wallet' }
    const announce = () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }))
    addEventListener('eip6963:requestProvider', announce)
    announce()
  `)
  return wallet
}
