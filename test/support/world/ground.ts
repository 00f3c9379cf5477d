import type { Address } from 'viem'
import { DETERMINISTIC_DEPLOYER, deployment } from '../../../src/chain/contracts/deployments.js'
import { type HeadFollower, startHeadFollower } from '../../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../../src/chain/nodeClient.js'
import { createStateProvider } from '../../../src/chain/stateProvider.js'
import { type AnvilClient, anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import {
  type DeployedContracts,
  deployDevContracts,
} from '../../../src/cli/devnet/deployDevContracts.js'
import { type DevWallet, devWallet } from '../../../src/cli/devnet/devWallet.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Engine } from '../../../src/simulation/engine.js'
import { createInProcessEngine } from '../../../src/simulation/inProcess/inProcessEngine.js'
import { type Anvil, startAnvil } from '../chain/startAnvil.js'
import { contracts } from '../chain/v06Contracts.js'
import { silent } from '../logger.js'
import type { NodeKind } from '../nodes/nodeKind.js'
import { simulations } from '../simulations.js'
import { type VersionChain, versionChain } from './versionChain.js'

/** The chain of a test: a plain anvil, unless it asks for another one. */
export type NodeSettings = {
  readonly chainId?: number
  /** Arguments of anvil. */
  readonly args?: readonly string[]
  readonly kind?: NodeKind
  /** The first acts on the chain, before any contract is there. */
  readonly prepare?: (tester: AnvilClient) => Promise<void>
  /** The EntryPoints on it; all unless said otherwise. */
  readonly versions?: readonly Version[]
}

/** The view of the chain: its node, its head, and what validates on it. */
type Eyes = Engine & { readonly node: NodeClient; readonly heads: HeadFollower }

/** A chain that carries the EntryPoints, their accounts and our contracts. */
export type DeployedNode = {
  readonly anvil: Anvil
  readonly chainId: number
  readonly wallet: DevWallet
  readonly tester: AnvilClient
  readonly deployed: DeployedContracts
  /** The contract `Target` of the tests. */
  readonly target: Address
  readonly eyes: Eyes
}

/** A chain with every EntryPoint and an engine on it, without a service. */
export type Ground = Omit<DeployedNode, 'eyes' | 'deployed'> & {
  readonly engine: TestEngine
  at(version: Version): VersionChain
  stop(): Promise<void>
}

/** A state provider and an engine of their own on the chain's node; what they ask is counted. */
export type TestEngine = Awaited<ReturnType<typeof openEngine>>

export async function openEngine(rpcUrl: string, chainId: number) {
  const node = createNodeClient({ urls: [rpcUrl], logger: silent })
  const heads = await startHeadFollower({
    node,
    definition: { chainId, pollInterval: 60_000 },
    logger: silent,
  })
  const sent: number[] = []
  const onBatch = (calls: number) => sent.push(calls)
  const state = await createStateProvider({ node, heads, chainId, onBatch })
  return {
    ...createInProcessEngine({ state, simulations, requester: undefined }),
    state,
    node,
    heads,
    /** Calls in each batch sent since it was last asked. */
    batches: () => sent.splice(0),
    async close() {
      state.stop()
      heads.stop()
      await node.close()
    },
  }
}

/** Starts a node and puts on it what every test meets. */
export async function launchNode({
  chainId = 31_337,
  args = [],
  kind,
  prepare,
  versions,
}: NodeSettings): Promise<Omit<DeployedNode, 'eyes'>> {
  const anvil = await startAnvil(['--chain-id', String(chainId), ...args], kind)
  try {
    const tester = anvilClient(anvil.url)
    await prepare?.(tester)
    const deployed = await deployDevContracts(anvil.url, versions)
    const wallet = await devWallet(anvil.url)
    const { address: target, deployData: data } = deployment(contracts.Target!.bytecode)
    const hash = await wallet.sendTransaction({ to: DETERMINISTIC_DEPLOYER, data, gas: 5_000_000n })
    await wallet.waitForTransactionReceipt({ hash })
    return { anvil, chainId, wallet, tester, deployed, target }
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

/** The acts with each EntryPoint version on a chain. */
export function versionsOn(node: DeployedNode): (version: Version) => VersionChain {
  const made = new Map<Version, VersionChain>()
  return (version) => {
    const chain = made.get(version) ?? versionChain(node, version)
    made.set(version, chain)
    return chain
  }
}

export async function openGround(settings: NodeSettings = {}): Promise<Ground> {
  const node = await launchNode(settings)
  const engine = await openEngine(node.anvil.nodeUrl, node.chainId)
  return {
    ...node,
    engine,
    at: versionsOn({ ...node, eyes: engine }),
    async stop() {
      await engine.close()
      await node.anvil.stop()
    },
  }
}
