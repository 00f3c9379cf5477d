import type { Hex } from 'viem'
import { type DeployedContracts, deployDevContracts } from '../../src/devnet/deployDevContracts.js'
import { startAnvil } from '../../src/devnet/startAnvil.js'
import { silent } from '../../test/support/logger.js'
import { createRpcClient } from './rpcClient.js'

export type LoadChain = Pick<DeployedContracts, 'entryPoints' | 'factories'> & {
  readonly rpcUrl: string
  readonly chainId: number
  /** Undefined for a chain that we did not start. */
  readonly pid: number | undefined
  stop(): Promise<void>
}

const CHAIN_ID = 31_337

/** An anvil of our own, or the one at `rpcUrl`, with EntryPoints and account factories. */
export async function openLoadChain(rpcUrl: string | undefined): Promise<LoadChain> {
  if (rpcUrl !== undefined) {
    const client = createRpcClient(rpcUrl, 1)
    const { result } = await client.call<Hex>('eth_chainId', [])
    await client.close()
    const contracts = await deployDevContracts(rpcUrl)
    return { ...contracts, rpcUrl, chainId: Number(result), pid: undefined, stop: async () => {} }
  }
  const anvil = await startAnvil({ chainId: CHAIN_ID, logger: silent })
  try {
    const contracts = await deployDevContracts(anvil.rpcUrl)
    const { pid, stop } = anvil
    return { ...contracts, rpcUrl: anvil.rpcUrl, chainId: CHAIN_ID, pid, stop }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}
