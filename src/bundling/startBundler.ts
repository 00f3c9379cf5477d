import type { HeadFollower } from '../chain/headFollower.js'
import { SendingTimeoutError } from '../errors/bundlingErrors.js'
import { openBundles } from '../store/outbox/bundles.js'
import type { BundlingContext } from './bundlingContext.js'
import { createRounds } from './createRounds.js'
import { createBalanceWatch } from './send/createBalanceWatch.js'
import type { Followed } from './send/followBundles.js'
import { followChain, keepLanes } from './send/followChain.js'
import { sendBundles } from './send/sendBundles.js'

export type Bundler = {
  /** Lets a round begin soon; called when operations were announced. */
  wake(): void
  /** `manual`: bundles are sent by `sendNow` only. Resolves when no round of the mode before is under way. */
  setMode(mode: 'manual' | 'auto'): Promise<void>
  /**
   * Sends one bundle of what is pooled, in either mode, and resolves when nothing is in flight any
   * more; at once when there is nothing to send. Throws SendingTimeoutError after a minute.
   */
  sendNow(): Promise<void>
  /** Resolves when the step under way has ended; no other begins. */
  stop(): Promise<void>
}

/** Milliseconds after which a whole round begins even if nothing woke the bundler. */
const MAX_ROUND_INTERVAL = 5_000

/** Milliseconds that `sendNow` waits for its bundle to be mined. */
const SENDING_TIMEOUT = 60_000

/**
 * The bundler of one chain. On each head and on a slow timer it runs a whole round; between them,
 * whenever it is woken, idle executors send. All its state is in the database; a failed round is logged
 * and the next one starts from there.
 */
export function startBundler(context: BundlingContext, heads: HeadFollower): Bundler {
  const { definition, logger } = context
  const watchBalances = createBalanceWatch(context)
  const rounds = createRounds(round)
  const wake = rounds.request
  let turn = 0
  let followWanted = true
  let followed: Followed | undefined
  let manual = false
  let forced = false
  let stopped = false

  async function round(): Promise<void> {
    const follow = followWanted
    // A round that began before it was asked for may know an older head.
    const isForced = forced && follow
    followWanted = false
    try {
      if (follow) {
        // Until the chain has been followed no other round may send: the known state is old.
        followed = undefined
        followed = await followChain(context, heads.current())
        if (followed) watchBalances(followed)
      }
      if (!followed) followWanted = true
      else if (isForced) {
        const firstExecutor = { ...context, signers: context.signers.slice(0, 1) }
        await sendBundles(firstExecutor, followed, { turn: turn++, freshHead: false })
        forced = false
      } else if (!manual) {
        const atHead = { ...followed, head: heads.current() }
        await sendBundles(context, atHead, { turn: turn++, freshHead: follow })
      }
      if (follow && followed) {
        await keepLanes(context, followed)
        await context.sizeWatch?.tell(followed.head)
        await context.dataFeeWatch?.look(followed.head)
      }
    } catch (error) {
      followWanted ||= follow
      logger.warn({ err: error }, 'a bundling round failed; nothing was changed by what failed')
    }
  }

  function wakeToFollow(): void {
    followWanted = true
    wake()
  }

  const unsubscribe = heads.onHead(wakeToFollow)
  const timer = setInterval(wakeToFollow, Math.min(MAX_ROUND_INTERVAL, definition.resubmitAfter))
  wake()
  return {
    wake,
    async setMode(mode) {
      manual = mode === 'manual'
      wake()
      await rounds.idle()
    },
    async sendNow() {
      await heads.refresh()
      forced = true
      for (const deadline = Date.now() + SENDING_TIMEOUT; !stopped; ) {
        wakeToFollow()
        await rounds.idle()
        const inFlight = (await openBundles(context.database, definition.chainId)).length
        if (!forced && inFlight === 0) return
        if (Date.now() >= deadline) {
          forced = false
          throw new SendingTimeoutError(SENDING_TIMEOUT, inFlight)
        }
        await nextHead(heads, definition.pollInterval)
        await heads.refresh()
      }
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      unsubscribe()
      await rounds.stop()
    },
  }
}

/** Resolves at the next head, or after `milliseconds`: blocks may be far apart. */
function nextHead(heads: HeadFollower, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = heads.onHead(done)
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      unsubscribe()
      resolve()
    }
  })
}
