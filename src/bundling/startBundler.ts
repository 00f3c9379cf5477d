import type { Hex } from 'viem'
import type { HeadFollower } from '../chain/headFollower.js'
import { NodeRpcError } from '../chain/nodeErrors.js'
import type { Head } from '../chain/nodeReads.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { faultPoint } from '../faults.js'
import { openBundles } from '../store/bundles.js'
import { dropExpired } from '../store/operations.js'
import { assembleBundle } from './assembleBundle.js'
import type { BundlingContext } from './bundlingContext.js'
import { createExecutors, type Executor } from './executors.js'
import { followBundles, send } from './followBundles.js'
import { indexBlocks } from './indexBlocks.js'
import { signBundle } from './signBundle.js'

export type Bundler = {
  /** Looks at the pool soon; called when operations were announced. */
  wake(): void
  /** Resolves when the step under way has ended; no other begins. */
  stop(): Promise<void>
}

/** Milliseconds after which the bundler looks at everything even if nothing woke it. */
const slowest = 5_000

/**
 * Bundles on one chain: on each head and on a slow timer it brings the index to the head and follows
 * the open bundles; then, and whenever it is woken, it sends new ones. All it knows is in the
 * database; a failed round is logged and the next one starts from there.
 */
export function startBundler(context: BundlingContext, heads: HeadFollower): Bundler {
  const { definition, logger } = context
  const executors = createExecutors(definition.executorKeys)
  let turn = 0
  let round: Promise<void> | undefined
  let wanted = false
  let followWanted = true
  let stopped = false

  async function run(): Promise<void> {
    while (wanted && !stopped) {
      const follow = followWanted
      wanted = false
      followWanted = false
      try {
        const head = heads.current()
        // Until the chain was followed no other waking may send: its state is not what we know.
        const followed = !follow || (await followChain(context, head, executors))
        if (followed) await sendBundles(context, head, executors, turn++)
        else followWanted = true
      } catch (error) {
        followWanted ||= follow
        logger.warn({ err: error }, 'a bundling round failed; nothing was changed by what failed')
      }
    }
    round = undefined
  }

  function wake(): void {
    wanted = true
    if (!stopped) round ??= run()
  }

  function wakeToFollow(): void {
    followWanted = true
    wake()
  }

  const unsubscribe = heads.onHead(wakeToFollow)
  const timer = setInterval(wakeToFollow, Math.min(slowest, definition.resubmitAfter))
  wake()
  return {
    wake,
    async stop() {
      stopped = true
      clearInterval(timer)
      unsubscribe()
      await round
    },
  }
}

/**
 * Learns from the chain at `head` what became of operations and bundles. False when the node does not
 * show that head as we know the chain; nothing should be sent then.
 */
export async function followChain(
  context: BundlingContext,
  head: Head,
  executors: readonly Executor[],
): Promise<boolean> {
  const { database, definition, logger } = context
  if (!(await indexBlocks(context, head))) return false
  await followBundles(context, head, executors)
  const expired = await dropExpired(database, definition.chainId, head.timestamp)
  if (expired.length > 0) logger.warn({ hashes: expired }, 'operations expired in the pool')
  return true
}

/** One bundle for every executor that has none in flight. `turn` rotates the EntryPoints. */
export async function sendBundles(
  context: BundlingContext,
  head: Head,
  executors: readonly Executor[],
  turn: number,
): Promise<void> {
  const { database, definition, entryPoints, logger } = context
  const open = await openBundles(database, definition.chainId)
  const busy = new Set(open.map(({ executor }) => executor))
  const waiting = new Set<Hex>()
  const start = turn % entryPoints.length
  const inTurn = [...entryPoints.slice(start), ...entryPoints.slice(0, start)]
  for (const executor of executors.filter(({ address }) => !busy.has(address))) {
    try {
      if (!(await sendBundle(context, head, executor, inTurn, waiting))) return
    } catch (error) {
      if (!(error instanceof NodeRpcError)) throw error
      const { address } = executor
      logger.error({ executor: address, reason: error.message }, 'the executor cannot send')
    }
  }
}

/** False when no operation can go now. */
async function sendBundle(
  context: BundlingContext,
  head: Head,
  executor: Executor,
  entryPoints: readonly EntryPoint[],
  waiting: Set<Hex>,
): Promise<boolean> {
  for (const entryPoint of entryPoints) {
    for (;;) {
      const assembly = { head, executor: executor.address, entryPoint, waiting }
      const draft = await assembleBundle(context, assembly)
      if (!draft) break
      faultPoint('bundle:simulated')
      const bundle = await signBundle(context, executor, draft)
      if (!bundle) continue
      faultPoint('bundle:committed')
      const { hashes, gas, fees } = draft
      const facts = { bundleId: bundle.id, executor: executor.address, nonce: bundle.nonce }
      context.logger.info({ ...facts, operations: hashes.length, gas, ...fees }, 'bundle signed')
      await send(context, bundle)
      return true
    }
  }
  return false
}
