import { createWalletClient, defineChain, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvilClient } from './anvilClient.js'
import { FUNDER_KEY } from './devKeys.js'

/** A client that sends from the funder, on whatever chain `rpcUrl` serves. */
export const devWallet = async (rpcUrl: string) => {
  const chain = defineChain({
    id: await anvilClient(rpcUrl).getChainId(),
    name: 'development',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  return createWalletClient({
    account: privateKeyToAccount(FUNDER_KEY),
    chain,
    transport: http(rpcUrl, { retryCount: 0, batch: true }),
    pollingInterval: 20,
  }).extend(publicActions)
}

export type DevWallet = Awaited<ReturnType<typeof devWallet>>
