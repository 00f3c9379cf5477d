import { decodeHead, type Head, headRequest } from '../head.js'
import type { NodeCall } from '../jsonRpc.js'
import { NodeUnavailableError } from '../nodeErrors.js'
import { agreeOnHead } from './agreeOnHead.js'
import { askNode } from './exchange.js'
import type { NodePool, RpcNode } from './nodePool.js'

/** Milliseconds after which nobody waits for what one of several nodes says of its head. */
const HEAD_DEADLINE = 2_000

/** The result of a call, and the node that gave it. */
type NodeResult = { readonly node: RpcNode; readonly result: unknown }

/**
 * The newest block that enough nodes have, see `agreeOnHead`. Nodes that do not have it are marked as
 * behind; all are when it is older than one agreed on before. Throws NodeUnavailableError when too few
 * nodes agree.
 */
export async function agreedHead(pool: NodePool): Promise<Head> {
  const { nodes, quorum } = pool
  const answers = await askEach(pool, headRequest('latest'))
  const voters = answers.flatMap(({ node, result }) => {
    const head = decodeHead(result)
    const at = async (number: bigint) =>
      decodeHead((await askOne(pool, node, headRequest(number)))?.result)
    return head === undefined ? [] : { node, head, at }
  })
  const agreed = await agreeOnHead(voters, quorum)
  if (agreed === undefined)
    throw new NodeUnavailableError(
      `${voters.length} of ${nodes.length} told a head, and no ${quorum} the same`,
    )
  const isOld = agreed.head.number < pool.floor
  for (const node of nodes) node.behind = isOld || !agreed.by.some((voter) => voter.node === node)
  if (!isOld) pool.floor = agreed.head.number
  return agreed.head
}

/** The results of the nodes that do not rest, or of all when they are fewer than the quorum. */
export async function askEach(pool: NodePool, call: NodeCall): Promise<readonly NodeResult[]> {
  const { nodes, quorum } = pool
  const now = Date.now()
  const rested = nodes.filter(({ rest }) => rest.until <= now)
  const chosen = rested.length < quorum ? nodes : rested
  const answers = await Promise.all(chosen.map((node) => askOne(pool, node, call)))
  return answers.flatMap((answer) => answer ?? [])
}

async function askOne(
  pool: NodePool,
  node: RpcNode,
  call: NodeCall,
): Promise<NodeResult | undefined> {
  const patience = Math.min(pool.deadline, HEAD_DEADLINE)
  const [answer] = await askNode(pool, node, [call], patience).catch(() => [])
  return answer?.ok ? { node, result: answer.result } : undefined
}
