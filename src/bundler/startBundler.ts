import { SendingTimeoutError } from '../base/errors/requestErrors.js'
import type { ProblemLog } from '../base/problemLog.js'
import { blockInterval } from '../chain/comingBlock.js'
import type { Head } from '../chain/head.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { BundlingContext } from './bundlingContext.js'
import { openBundles } from './outbox/bundles.js'
import { PENDING_LOOK } from './pendingBlock.js'
import { type ChainView, type Followed, followBundles } from './send/followBundles.js'
import { createWatches, indexChain, keepLanes } from './send/followChain.js'
import { sendBundles } from './send/sendBundles.js'

export type Bundler = {
  /** Lets a cycle begin soon; called when operations were announced. */
  wake(): void
  /** `manual`: bundles are sent by `sendNow` only. Resolves when no cycle of the mode before is under way. */
  setMode(mode: 'manual' | 'auto'): Promise<void>
  /**
   * Sends one bundle of what is pooled, in either mode, and resolves when nothing is in flight any
   * more; at once when there is nothing to send. Throws SendingTimeoutError after a minute.
   */
  sendNow(): Promise<void>
  /** Resolves when the step under way has ended; no other begins. */
  stop(): Promise<void>
}

/** Milliseconds after which a whole cycle begins even if nothing woke the bundler, and one that sends ends for a newer head. */
const MAX_CYCLE_INTERVAL = 5_000

/** Milliseconds between bundles while one is in flight, at most: what comes meanwhile shares the next. */
const LONGEST_PAUSE = 250

/** Milliseconds that `sendNow` waits for its bundle to be mined. */
const SENDING_TIMEOUT = 60_000

const FAILED = 'a bundling cycle failed; nothing was changed by what failed'

/**
 * The bundler of one chain. On each head and on a slow timer the chain is indexed, whatever is being sent; then a cycle
 * follows the lanes and sends. Between heads, whenever it is woken, idle executors send. All its state is in the
 * database; what fails is logged, and the next cycle starts from there.
 */
export function startBundler(context: BundlingContext, heads: HeadFollower): Bundler {
  const { definition, problems } = context
  const watch = createWatches(context)
  const following = createCycles(follow)
  const cycles = createCycles(cycle)
  let turn = 0
  /** As the index has reached it; undefined while it cannot: nothing is sent then. */
  let view: ChainView | undefined
  let followed: Followed | undefined
  const pause = createPause(context)
  let manual = false
  let forced = false
  let stopped = false

  async function follow(): Promise<void> {
    view = await attempt(problems, 'index', () => indexChain(context, heads.current()))
    if (view) cycles.request()
  }

  async function cycle(): Promise<void> {
    const seen = view
    if (seen === undefined) return
    const isFresh = seen.states !== followed?.states
    const isForced = forced && isFresh
    const rest = isFresh || followed?.lanes.bundles?.length === 0 ? 0 : pause.rest()
    if (rest > 0) return cycles.requestIn(rest)
    try {
      if (isFresh) {
        followed = undefined
        followed = await followBundles(context, seen)
        watch(followed)
      }
      if (!followed) return
      if (isForced || !manual) {
        const begin = performance.now()
        const isLate = () => view !== seen && performance.now() - begin > MAX_CYCLE_INTERVAL
        const signers = isForced ? context.signers.slice(0, 1) : context.signers
        const { hasSent, isBusy } = await sendBundles({ ...context, signers }, followed, {
          turn: turn++,
          freshHead: isFresh && !isForced,
          newestHead: heads.current,
          isOver: () => view === undefined || isLate(),
        })
        if (isForced) forced = false
        if (hasSent) await pause.begin(seen.head)
        // What the sequencer promises meanwhile frees an executor before the next head.
        if (isBusy && context.pending) cycles.requestIn(PENDING_LOOK)
      }
      if (isFresh) await followUp(context, followed)
      problems.end('sending', FAILED)
    } catch (error) {
      followed = undefined
      logFailure(problems, 'sending', error)
    }
  }

  function wake(): void {
    if (view === undefined) following.request()
    else cycles.request()
  }

  const unsubscribe = heads.onHead(following.request)
  const interval = Math.min(MAX_CYCLE_INTERVAL, definition.resubmitAfter)
  const timer = setInterval(following.request, interval)
  wake()
  return {
    wake,
    async setMode(mode) {
      manual = mode === 'manual'
      wake()
      await cycles.idle()
    },
    async sendNow() {
      await heads.refresh()
      await following.idle()
      forced = true
      for (const deadline = performance.now() + SENDING_TIMEOUT; !stopped; ) {
        following.request()
        await following.idle()
        await cycles.idle()
        const inFlight = (await openBundles(context.database, definition.chainId)).length
        if (!forced && inFlight === 0) return
        if (performance.now() >= deadline) {
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
      await Promise.all([following.stop(), cycles.stop()])
    },
  }
}

/** What is done at each head once bundles are sent. */
async function followUp(context: BundlingContext, followed: Followed): Promise<void> {
  await keepLanes(context, followed)
  await context.sizeWatch?.store(followed.head)
  await context.dataFeeWatch?.look(followed.head)
}

/** The time after a bundle in which none follows between heads, so that the executors spread over a block. */
function createPause({ node, signers }: BundlingContext) {
  let end = 0
  return {
    async begin(head: Head): Promise<void> {
      const begin = performance.now()
      const interval = 1_000 * (await blockInterval(node, head))
      end = begin + Math.min(interval / signers.length, LONGEST_PAUSE)
    },
    /** Milliseconds that are left of it. */
    rest: (): number => Math.max(0, end - performance.now()),
  }
}

function logFailure(problems: ProblemLog, step: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error)
  problems.warn(step, FAILED, { err: error, reason })
}

/** The result of a step of a cycle; undefined, with a line in the log, where it fails. */
async function attempt<Result>(
  problems: ProblemLog,
  step: string,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = await run()
    problems.end(step, FAILED)
    return result
  } catch (error) {
    logFailure(problems, step, error)
    return undefined
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

/** Cycles of work, one after the other. */
type Cycles = {
  /** Requests a cycle that begins after this call; requests before it begins share one cycle. */
  request(): void
  /** Requests one in so many milliseconds, unless there is another before. */
  requestIn(milliseconds: number): void
  /** Resolves when no cycle is under way or requested. */
  idle(): Promise<void>
  /** Resolves when the cycle under way has ended; no other begins. */
  stop(): Promise<void>
}

/** Cycles that run `cycle`, which handles its own failures: it must not reject. */
export function createCycles(cycle: () => Promise<void>): Cycles {
  let requested = false
  let stopped = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    while (requested && !stopped) {
      requested = false
      clearTimeout(timer)
      // Waiting even for a cycle that has nothing to wait for: `running` is set by then, and ends
      // here before another request can come.
      await cycle()
    }
    running = undefined
  }

  const request = (): void => {
    requested = true
    if (!stopped) running ??= run()
  }

  return {
    request,
    requestIn(milliseconds) {
      clearTimeout(timer)
      timer = setTimeout(request, milliseconds)
    },
    idle: async () => running,
    async stop() {
      stopped = true
      await running
      clearTimeout(timer)
    },
  }
}
