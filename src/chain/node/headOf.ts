import { type ChainIdentity, isIdOf, otherChain } from '../chainIdentity.js'
import { decodeHead, type Head, headRequest } from '../head.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import type { NodePool, RpcNode } from './nodePool.js'

const KEPT_BLOCKS = 128

/** Asked in one exchange, so that one backend of a load balancer answers all three. */
const identifyingCalls = [
  headRequest('latest'),
  { method: 'eth_chainId', params: [] },
  headRequest(0n),
]

/** Asks one node; trouble is thrown. */
type AskNode = (calls: readonly NodeCall[]) => Promise<readonly NodeAnswer[]>

/**
 * The latest block of a node; undefined when it has none, or serves another chain: then it is marked as a
 * stranger until it serves ours. A block that follows one we know needs no proof; for any other the node is
 * asked for chain id and block 0 together with it.
 */
export async function headOf(
  pool: NodePool,
  node: RpcNode,
  ask: AskNode,
): Promise<Head | undefined> {
  const { chain } = pool
  if (chain === undefined || !node.jumps) {
    const head = decodeHead(resultOf((await ask([headRequest('latest')]))[0]))
    if (chain === undefined || head === undefined) return head
    if (isKnown(chain, head)) return admit(pool, chain, node, head)
  }
  const [latest, id, first] = await ask(identifyingCalls)
  const head = decodeHead(resultOf(latest))
  if (head === undefined) return undefined
  // On a chain with several blocks between two looks the second request is saved.
  node.jumps = !isKnown(chain, head)
  const genesis = first?.ok ? decodeHead(first.result)?.hash : undefined
  const serves = otherChain(chain, resultOf(id), genesis)
  const isNew = genesis !== undefined && genesis !== chain.genesis
  if (serves !== undefined && !(isNew && chain.restarts && isIdOf(chain, resultOf(id))))
    return exclude(pool, chain, node, serves)
  if (isNew) {
    chain.genesis = genesis
    chain.recent.clear()
    pool.floor = 0n
  }
  return admit(pool, chain, node, head)
}

function resultOf(answer: NodeAnswer | undefined): unknown {
  if (answer?.ok === false) throw answer.error
  return answer?.result
}

function isKnown({ recent }: ChainIdentity, { hash, parentHash }: Head): boolean {
  return recent.has(hash) || recent.has(parentHash)
}

function admit(
  { logger }: NodePool,
  chain: ChainIdentity,
  { endpoint }: RpcNode,
  head: Head,
): Head {
  const { recent, strangers, chainId } = chain
  recent.delete(head.hash)
  recent.add(head.hash)
  const [oldest = head.hash] = recent
  if (recent.size > KEPT_BLOCKS) recent.delete(oldest)
  if (strangers.delete(endpoint.url))
    logger.info({ endpoint: endpoint.label }, `the node serves chain ${chainId} again`)
  return head
}

function exclude(
  { logger }: NodePool,
  { strangers, chainId }: ChainIdentity,
  { endpoint }: RpcNode,
  serves: string,
): undefined {
  if (strangers.get(endpoint.url) === serves) return
  strangers.set(endpoint.url, serves)
  logger.error(
    { endpoint: endpoint.label },
    `The node serves ${serves} and not our chain ${chainId}: it counts as unavailable and its answers are ignored. Fix: correct rpcUrls, or the proxy in front of the node.`,
  )
}
