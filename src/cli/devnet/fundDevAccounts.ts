import { createWalletClient, formatEther, http, parseEther, publicActions } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { DevChainError } from './devChainError.js'
import { devKeys, funderKey } from './devKeys.js'
import { devWallet } from './devWallet.js'

/** wei of each account at the start, as on anvil, and below which one counts as empty. */
const startBalance = parseEther('10000')
const leastBalance = parseEther('1')

/**
 * Gives anvil's accounts their coins on a node that has others, such as a bare `geth --dev`: from the account that it keeps
 * unlocked. A node without one stays as it is while the funder has coins.
 * @throws DevChainError that names accounts and sum
 */
export async function fundDevAccounts(rpcUrl: string): Promise<void> {
  const node = createWalletClient({ transport: http(rpcUrl) }).extend(publicActions)
  const accounts = devKeys.map((key) => privateKeyToAddress(key))
  const balances = await Promise.all(accounts.map((address) => node.getBalance({ address })))
  const empty = accounts.filter((_, at) => (balances[at] ?? 0n) < leastBalance)
  if (empty.length === 0) return
  const [from] = await node.getAddresses().catch(() => [])
  const wealth = from === undefined ? 0n : await node.getBalance({ address: from })
  if (from === undefined || wealth < startBalance * BigInt(empty.length + 1)) {
    if (!empty.includes(privateKeyToAddress(funderKey))) return
    throw new DevChainError(
      `The accounts of the development chain have no coins at ${new URL(rpcUrl).host}, and the node has no unlocked account that could give them: send ${formatEther(startBalance)} coins each to ${empty.join(', ')}.`,
    )
  }
  const { waitForTransactionReceipt } = await devWallet(rpcUrl)
  for (const to of empty) {
    const hash = await node.sendTransaction({ account: from, chain: null, to, value: startBalance })
    await waitForTransactionReceipt({ hash })
  }
}
