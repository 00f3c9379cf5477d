import { signal } from '@preact/signals'

/** A wallet of the browser (EIP-1193), with the name by which it announced itself (EIP-6963). */
export type Wallet = {
  readonly id: string
  readonly name: string
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
}

export type WalletTransaction = {
  readonly chainId: number
  readonly from: string
  readonly to: string
  readonly data: string
  /** wei */
  readonly value: bigint
}

type Announcement = {
  readonly info: { readonly uuid: string; readonly name: string }
  readonly provider: Pick<Wallet, 'request'>
}

/** The wallets that announced themselves so far. */
export const wallets = signal<readonly Wallet[]>([])

/** Asks the wallets of the browser to announce themselves; later ones come by themselves. */
export function findWallets(): () => void {
  const hear = (event: Event): void => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    const wallet = { id: info.uuid, name: info.name, request: provider.request.bind(provider) }
    wallets.value = [...wallets.value.filter(({ id }) => id !== wallet.id), wallet]
  }
  addEventListener('eip6963:announceProvider', hear)
  dispatchEvent(new Event('eip6963:requestProvider'))
  return () => removeEventListener('eip6963:announceProvider', hear)
}

/** The account that the user lets us see. Throws what the wallet throws, such as a refusal. */
export async function accountOf(wallet: Wallet): Promise<string> {
  const accounts = await wallet.request({ method: 'eth_requestAccounts' })
  const [first] = Array.isArray(accounts) ? accounts : []
  if (typeof first !== 'string') throw new Error(`${wallet.name} shows no account.`)
  return first.toLowerCase()
}

/** Sends a transaction by the wallet, on its chain and no other; the hash. */
export async function sendBy(wallet: Wallet, transaction: WalletTransaction): Promise<string> {
  const { chainId, value, ...rest } = transaction
  const id = `0x${chainId.toString(16)}`
  const present = await wallet.request({ method: 'eth_chainId' })
  if (Number(present) !== chainId)
    await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: id }] })
  if (Number(await wallet.request({ method: 'eth_chainId' })) !== chainId)
    throw new Error(`${wallet.name} is not on chain ${chainId}.`)
  const params = [{ ...rest, value: `0x${value.toString(16)}`, chainId: id }]
  return String(await wallet.request({ method: 'eth_sendTransaction', params }))
}

/** Milliseconds between two questions for a receipt. */
const PACE = 1_000

/**
 * Waits until the transaction is in a block. A node that does not answer is asked again: the transaction is sent.
 * Throws where it reverted, and the reason of `abort` when that says so.
 */
export async function includedBy(wallet: Wallet, hash: string, abort: AbortSignal): Promise<void> {
  const ask = { method: 'eth_getTransactionReceipt', params: [hash] }
  for (;;) {
    const receipt = await wallet.request(ask).catch(() => undefined)
    abort.throwIfAborted()
    if (receipt !== null && receipt !== undefined) {
      if ((receipt as { status?: string }).status === '0x1') return
      throw new Error(`Transaction ${hash} reverted: nothing was moved.`)
    }
    await new Promise((resolve) => setTimeout(resolve, PACE))
  }
}
