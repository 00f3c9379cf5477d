import type { Address } from 'viem'
import { afterAll, beforeAll } from 'vitest'
import { ethCall } from '../../../src/chain/ethCall.js'
import { type HeadFollower, startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../../src/chain/nodeClient.js'
import { getCode } from '../../../src/chain/nodeReads.js'
import { deployDevContracts } from '../../../src/cli/devnet/deployDevContracts.js'
import { keyFromSeed, simpleAccount } from '../../../src/cli/devnet/simpleAccount.js'
import { type Anvil, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { createEntryPoint } from '../../../src/erc4337/createEntryPoint.js'
import type { EntryPoint } from '../../../src/erc4337/entryPoint.js'
import { silent } from '../logger.js'

export const chainId = 31_337

export type TestChain = {
  readonly rpcUrl: string
  readonly node: NodeClient
  readonly heads: HeadFollower
  /** EntryPoint v0.6 */
  readonly entryPoint: EntryPoint
  readonly tankFactory: Address
  /** The SimpleAccount of a key made from `seed`. */
  account(seed: string): ReturnType<typeof simpleAccount>
}

/** A development chain with the public contracts for all tests of a file; gone afterwards. */
export function useChain(): () => TestChain {
  let anvil: Anvil | undefined
  let chain: TestChain | undefined
  beforeAll(async () => {
    anvil = await startAnvil({ chainId, logger: silent })
    const { rpcUrl } = anvil
    const { entryPoints, factories, tankFactory } = await deployDevContracts(rpcUrl)
    const node = createNodeClient({ urls: [rpcUrl], logger: silent })
    const definition = { chainId, pollInterval: 50 }
    const heads = await startHeadFollower({ node, definition, logger: silent })
    const entryPoint = createEntryPoint('0.6', entryPoints['0.6'] as Address)
    const reads = {
      read: async (to: Address, data: `0x${string}`) => {
        const outcome = await ethCall(node, { to, data })
        return outcome.ok ? outcome.data : outcome.revertData
      },
      isDeployed: async (address: Address) => (await getCode(node, address)) !== '0x',
    }
    const factory = factories['0.6'] as Address
    const account = (seed: string) =>
      simpleAccount(reads, {
        ownerKey: keyFromSeed(seed),
        factory,
        entryPoint: entryPoint.address,
      })
    chain = { rpcUrl, node, heads, entryPoint, tankFactory, account }
  })
  afterAll(async () => {
    chain?.heads.stop()
    await chain?.node.close()
    await anvil?.stop()
  })
  return () => {
    if (chain === undefined) throw new Error('The chain does not run yet.')
    return chain
  }
}
