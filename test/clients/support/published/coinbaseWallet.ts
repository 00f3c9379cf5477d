import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type SmartAccount, toCoinbaseSmartAccount } from 'viem/account-abstraction'
import { passkeyOf } from '../../../support/service/passkey.js'
import { nodeClient } from '../../../support/service/smartAccounts.js'
import { ownerOf } from '../accountFamily.js'
import { readBroadcast } from './broadcast.js'
import { placePublished } from './placePublished.js'
import type { PublishedContract } from './publishedContract.js'
import type { PublishedFamily } from './publishedFamily.js'

const RUN = 'broadcast/DeployFactory.s.sol/8453/run-latest.json'
const names = ['CoinbaseSmartWallet', 'CoinbaseSmartWalletFactory']

/** viem's client, as npm installed it, which names the factory; the factory names the implementation. */
function clientSource(): string {
  const entry = createRequire(import.meta.url).resolve('viem/account-abstraction')
  const path = 'accounts/implementations/toCoinbaseSmartAccount.js'
  return readFileSync(join(dirname(entry), path), 'utf8')
}

function contracts(): readonly PublishedContract[] {
  return readBroadcast('smart-wallet', RUN).creations.map((creation, at) => ({
    ...creation,
    name: names[at]!,
    client: at === 1 ? clientSource() : undefined,
  }))
}

/** Coinbase Smart Wallet 1, from its creation on Base, by viem's client. */
export const coinbaseWallet: PublishedFamily = {
  name: 'Coinbase Smart Wallet',
  checkouts: ['smart-wallet'],
  contracts,
  place: ({ rpcUrl }) => placePublished(rpcUrl, contracts()),
  kinds: (info) =>
    Object.entries({
      'Coinbase Smart Wallet 1, as published': ownerOf,
      'Coinbase Smart Wallet 1 with a passkey, as published': passkeyOf,
    }).map(([name, owner]) => ({
      name,
      version: '0.6',
      open: (seed) =>
        toCoinbaseSmartAccount({
          client: nodeClient(info()),
          owners: [owner(seed)],
          version: '1',
        }) as Promise<SmartAccount>,
    })),
}
