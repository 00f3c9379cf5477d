import { decodeHead, type Head, headRequest } from '../head.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import { NodeUnavailableError } from '../nodeErrors.js'
import { headOf } from './headOf.js'
import { askNode, type NodePool, type RpcNode } from './nodePool.js'

/** Milliseconds after which nobody waits for what one of several nodes says of its head. */
const HEAD_DEADLINE = 2_000

/** Milliseconds for which the others are waited for when enough nodes have reported a head. */
const LATE_PATIENCE = 500

/** Milliseconds for which a lower head of another branch is not believed: a node that has the old one may be slow. */
const BRANCH_PATIENCE = 5_000

/** What one node answers to a call; undefined = nothing. */
export type NodeReply = { readonly host: string; readonly answer: NodeAnswer | undefined }

/**
 * The newest block that enough nodes have, see `agreeOnHead`. Nodes that do not have it are marked as
 * behind; all are when `lags` says so of it. Throws NodeUnavailableError when too few nodes agree.
 */
export async function agreedHead(pool: NodePool): Promise<Head> {
  const { nodes, quorum } = pool
  const chosen = askedNodes(pool, nodes)
  const looks = chosen.map(async (node) => {
    const ask = (calls: readonly NodeCall[]) => askNode(pool, node, calls, patienceOf(pool))
    const head = await headOf(pool, node, ask).catch(() => undefined)
    const at = async (number: bigint) => {
      const { answer } = await askOne(pool, node, headRequest(number), patienceOf(pool))
      return answer?.ok ? decodeHead(answer.result) : undefined
    }
    return head && { node, head, at }
  })
  const voters = await inTime(looks, quorum)
  const agreed = await agreeOnHead(voters, quorum)
  if (agreed === undefined)
    throw new NodeUnavailableError(
      `${voters.length} of ${nodes.length} answered with a head, and no ${quorum} agree`,
    )
  const isOld = lags(pool, agreed.head)
  for (const node of nodes) node.behind = isOld || !agreed.by.some((voter) => voter.node === node)
  if (!isOld) pool.floor = agreed.head.number
  return agreed.head
}

/**
 * Whether a head is lower than one agreed on before, and the nodes that have it may only be behind. They are not where
 * it has been another block than we know by that number for a while: the chain has left that branch, and may stay lower.
 * The same holds where nobody could follow the chain to the higher one for a while: a node may have made that up.
 */
function lags(pool: NodePool, { number, hash }: Head): boolean {
  const known = pool.known.get(number)
  const isLower = number < pool.floor
  const top = [...pool.known.keys()].at(-1)
  const isFollowed = top === undefined || top >= pool.floor
  if (!isLower || (isFollowed && (known === undefined || known === hash))) {
    pool.leftSince = undefined
    return isLower
  }
  pool.leftSince ??= performance.now()
  return performance.now() - pool.leftSince < BRANCH_PATIENCE
}

/** The nodes that are not paused, or all when they are fewer than the quorum. */
function askedNodes({ quorum }: NodePool, nodes: readonly RpcNode[]): readonly RpcNode[] {
  const now = performance.now()
  const ready = nodes.filter(({ pause }) => pause.until <= now)
  return ready.length < quorum ? nodes : ready
}

/** What has come, in the order asked, when all have settled, or a moment after `enough` have given something. */
function inTime<T>(
  asked: readonly Promise<T | undefined>[],
  enough: number,
): Promise<readonly T[]> {
  return new Promise((resolve) => {
    const found = new Map<number, T>()
    let pending = asked.length
    let timer: NodeJS.Timeout | undefined
    const end = (): void => {
      clearTimeout(timer)
      resolve([...found].sort(([a], [b]) => a - b).map(([, each]) => each))
    }
    for (const [place, each] of asked.entries())
      void each.then((value) => {
        pending -= 1
        if (value !== undefined) found.set(place, value)
        if (pending === 0) end()
        else if (found.size >= enough) timer ??= setTimeout(end, LATE_PATIENCE)
      })
  })
}

/** The replies of the nodes of the chain that are not paused, or of all of them, each as it comes. */
export function askEach(
  pool: NodePool,
  call: NodeCall,
  patience = patienceOf(pool),
): readonly Promise<NodeReply>[] {
  const ours = pool.nodes.filter(({ endpoint }) => !pool.chain?.strangers.has(endpoint.url))
  return askedNodes(pool, ours).map((node) => askOne(pool, node, call, patience))
}

async function askOne(
  pool: NodePool,
  node: RpcNode,
  call: NodeCall,
  patience: number,
): Promise<NodeReply> {
  const [answer] = await askNode(pool, node, [call], patience).catch(() => [])
  return { host: node.endpoint.label, answer }
}

function patienceOf({ deadline }: NodePool): number {
  return Math.min(deadline, HEAD_DEADLINE)
}

/** A node that has reported its head. */
export type Voter = {
  readonly head: Head
  /** Its block with that number; undefined when it has none. */
  at(number: bigint): Promise<Head | undefined>
}

/** The number of `configured` nodes that must have the same block: most of them; of two, either one. */
export function quorumOf(configured: number): number {
  return configured < 3 ? 1 : Math.floor(configured / 2) + 1
}

/**
 * The highest block that `quorum` voters have, and the voters that have it. Voters that are further on are asked for
 * the block that they have in its place, so that nodes of unequal speed agree and one on a branch of its
 * own is outvoted. With a quorum of one it is the highest head, of equally high ones the first.
 * Undefined when the voters have no such block.
 */
export async function agreeOnHead<Each extends Voter>(
  voters: readonly Each[],
  quorum: number,
): Promise<{ readonly head: Head; readonly by: readonly Each[] } | undefined> {
  const numbers = voters.map(({ head }) => head.number).sort((a, b) => (a < b ? 1 : -1))
  for (const number of new Set(numbers.slice(quorum - 1))) {
    const blocks = await Promise.all(voters.map((voter) => blockAt(voter, number)))
    for (const head of blocks) {
      const by = voters.filter((_, i) => head !== undefined && blocks[i]?.hash === head.hash)
      if (head !== undefined && by.length >= quorum) return { head, by }
    }
  }
  return undefined
}

async function blockAt(voter: Voter, number: bigint): Promise<Head | undefined> {
  if (voter.head.number === number) return voter.head
  return voter.head.number < number ? undefined : voter.at(number)
}
