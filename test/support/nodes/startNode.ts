import { pino } from 'pino'
import { DETERMINISTIC_DEPLOYER } from '../../../src/chain/contracts/deployments.js'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { DEPLOYER_CODE } from './deployerCode.js'
import { startNodeFront } from './nodeFront.js'
import { type NodeKind, nodeKind } from './nodeKind.js'
import type { RawNode } from './rawNode.js'
import { startGeth } from './startGeth.js'
import { startHardhat } from './startHardhat.js'
import { gethMethods, hardhatMethods } from './testMethods.js'

/** A chain of one node of any kind, with anvil's accounts and the deterministic deployer. */
export type TestNode = {
  /** For tests: also knows the methods by which they change the chain, as anvil names them. */
  readonly rpcUrl: string
  /** The node itself, for a service. */
  readonly nodeUrl: string
  /** Where the node announces heads. */
  readonly wsUrl: string
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a node of the kind that the run asks for, or of `kind`. */
export async function startNode(chainId: number, kind: NodeKind = nodeKind()): Promise<TestNode> {
  if (kind === 'anvil') {
    const { rpcUrl, pid, stop } = await startAnvil({ chainId, logger: pino({ level: 'silent' }) })
    return { rpcUrl, nodeUrl: rpcUrl, wsUrl: rpcUrl.replace('http', 'ws'), pid, stop }
  }
  const node = await startRaw(chainId, kind)
  const isGeth = kind === 'geth' || kind === 'amsterdam' || kind === 'bogota'
  const methods = isGeth ? gethMethods(node.rpcUrl, chainId) : hardhatMethods(node.rpcUrl)
  const front = await startNodeFront(node.rpcUrl, methods)
  if (!isGeth) await placeDeployer(front.url)
  return {
    rpcUrl: front.url,
    nodeUrl: node.rpcUrl,
    wsUrl: node.wsUrl,
    pid: node.pid,
    async stop() {
      await front.stop()
      await node.stop()
    },
  }
}

/** Seconds after the start at which Amsterdam begins: a world is set up until then, and used. */
const AHEAD = Number(process.env.PURSER_AMSTERDAM_AHEAD ?? 400)

function startRaw(chainId: number, kind: Exclude<NodeKind, 'anvil'>): Promise<RawNode> {
  if (kind === 'geth') return startGeth(chainId)
  if (kind === 'amsterdam')
    return startGeth(chainId, { amsterdamTime: Math.floor(Date.now() / 1_000) + AHEAD })
  if (kind === 'bogota') return startGeth(chainId, { amsterdamTime: 0, bogotaTime: 0 })
  return startHardhat(kind === 'hardhat' ? 'l1' : 'op', chainId)
}

async function placeDeployer(rpcUrl: string): Promise<void> {
  await anvilClient(rpcUrl).setCode({ address: DETERMINISTIC_DEPLOYER, bytecode: DEPLOYER_CODE })
}
