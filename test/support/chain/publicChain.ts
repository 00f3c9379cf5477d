import type { Address } from 'viem'
import { DETERMINISTIC_DEPLOYER } from '../../../src/chain/contracts/deployments.js'
import { devContracts } from '../../../src/cli/devnet/devContracts.js'
import { devWallet } from '../../../src/cli/devnet/devWallet.js'
import { type Anvil, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { silent } from '../logger.js'

export type PublicChain = Pick<Anvil, 'rpcUrl' | 'stop'> & {
  readonly chainId: number
  readonly entryPoints: { readonly '0.6': Address }
  readonly factories: { readonly '0.6': Address }
}

/** A chain as it is found in public: EntryPoint v0.6 and an account factory, nothing of Purser. */
export async function startPublicChain(chainId: number): Promise<PublicChain> {
  const { rpcUrl, stop } = await startAnvil({ chainId, logger: silent })
  const { entryPoint, factory, deployments } = devContracts('0.6')
  const wallet = await devWallet(rpcUrl)
  for (const { deployData } of deployments) {
    const hash = await wallet.sendTransaction({ to: DETERMINISTIC_DEPLOYER, data: deployData })
    await wallet.waitForTransactionReceipt({ hash })
  }
  const [entryPoints, factories] = [{ '0.6': entryPoint }, { '0.6': factory }]
  return { chainId, rpcUrl, stop, entryPoints, factories }
}
