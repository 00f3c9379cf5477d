import type { Logger } from 'pino'
import { TooCostlyError } from '../base/errors/simulationErrors.js'
import { Lru } from '../base/lru.js'
import type { Requester } from '../base/requester.js'
import type { KnownBlock, Unfinished } from '../chain/stateProvider.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { type Miss, trackState } from '../evm/index.js'
import type { StateOverride } from './engine.js'
import type { Measured, MeasureTask } from './inProcess/measureOperation.js'
import { noProgress } from './inProcess/measurePass.js'
import type { BundleRun, BundleTask } from './inProcess/runBundle.js'
import type { Interrupted, OperationRun, PassEnd, RunTask } from './inProcess/runOperation.js'
import { MAX_STEPS } from './inProcess/simulateOperation.js'
import { knows, packBlock, Wanted } from './threads/carriedBlock.js'
import { type CodeSender, createCodeSender } from './threads/codes.js'
import { runInline } from './threads/inlineRuns.js'
import {
  type Job,
  type PackedPass,
  runTask,
  type Task,
  type TaskPass,
  unpackPass,
} from './threads/job.js'
import { createWorkerPool, type WorkerPool } from './threads/workerPool.js'

/** Bounds of what is run on the thread that answers requests. */
type InlineBounds = {
  /** Steps of one run: 3 ms of the slowest steps, and four times what validating a usual account takes. */
  readonly runSteps: number
  /**
   * Steps after which a measurement begins no further run here. All runs for an operation of `bench:gas` take 17,000 to
   * 43,000 where it pays itself, up to 69,000 with a paymaster.
   */
  readonly measureSteps: number
}

const usualBounds: InlineBounds = { runSteps: 30_000, measureSteps: 60_000 }
/** How long (milliseconds) an operation that exceeded the main thread's budget goes straight to a worker. */
const SLOW_FOR = 60_000
/** The most operations that are remembered as too slow for the main thread. */
const MOST_SLOW = 10_000
/**
 * Steps up to which a run is light: some 40 ms at most. Nearly all honest operations do with less. More is
 * heavy work, of which a party has a bounded number of requests under way (`Requester.beginHeavyWork`).
 */
const LIGHT_STEPS = 500_000
/** MB that the objects of one thread may take; those of the largest honest run take some 30. */
const THREAD_MEMORY = 96
/** Milliseconds that one job may take: many times what its steps should, also on a slow machine. */
const MOST_JOB_TIME = 30_000
/** Milliseconds of a thread that all jobs of one request may take. */
const MOST_REQUEST_TIME = 20_000

/** Where the next part of a request is run. */
type Place = 'inline' | 'light' | 'heavy'

/** A request about one operation. */
type SimulationSubject = {
  /** The party for which it is run; undefined = the service itself. */
  readonly requester: Requester | undefined
  readonly entryPoint: EntryPoint
  readonly override: StateOverride
  /** The key under which slow requests of its kind are remembered. */
  readonly kind: string
}

/** The runs of one request; its state is that of one block at a time. */
export type OperationRuns = {
  /**
   * Does the task on the state that is known; `reads` is state that it will likely need.
   * @throws TooCostlyError, SimulationLostError, RateLimitError
   */
  run(known: KnownBlock, reads: readonly Miss[], task: RunTask): Promise<OperationRun | Unfinished>
  /** The same; what was found out before on the same block is not repeated. */
  measure(
    known: KnownBlock,
    reads: readonly Miss[],
    task: Omit<MeasureTask, 'progress'>,
  ): Promise<Measured | Unfinished>
  /** Runs a whole bundle. */
  runBundle(
    known: KnownBlock,
    reads: readonly Miss[],
    task: BundleTask,
  ): Promise<BundleRun | Unfinished>
}

/** What runs operations, and for whom. */
export type RunParty = Pick<SimulationSubject, 'requester'> & { readonly simulations: Simulations }

export type Simulations = {
  begin(subject: SimulationSubject): OperationRuns
  /** Ends the threads; what is under way is refused with SimulationLostError. */
  close(): Promise<void>
}

type Parts = {
  readonly pool: WorkerPool<CodeSender, Job, PackedPass>
  /** By kind, the time until which it counts as slow. */
  readonly slow: Lru<string, number>
  readonly inline: InlineBounds
}

/**
 * Runs of our EVM, which never keep the calling thread for long. What is quick is run on it, a slice of each
 * turn of the event loop (`runInline`); what turns out not to be goes to one of `workers` threads with all that was found out, and
 * the next time from its start. No thread works on one request for longer than a run takes while others wait.
 *
 * `program` is the file that the threads run.
 */
export function createSimulations({
  workers,
  logger,
  program = new URL('./threads/worker.js', import.meta.url),
  inline = usualBounds,
}: {
  readonly workers: number
  readonly logger: Logger
  readonly program?: URL
  readonly inline?: InlineBounds
}): Simulations {
  const pool = createWorkerPool<CodeSender, Job, PackedPass>({
    program,
    size: workers,
    createLink: createCodeSender,
    memory: THREAD_MEMORY,
    mostTime: MOST_JOB_TIME,
    logger,
  })
  const parts: Parts = { pool, inline, slow: new Lru(MOST_SLOW) }
  return { begin: (subject) => createOperationRuns(parts, subject), close: pool.close }
}

function createOperationRuns(
  { pool, slow, inline }: Parts,
  { requester, entryPoint, override, kind }: SimulationSubject,
): OperationRuns {
  const wanted = new Wanted()
  let place: Place = (slow.get(kind) ?? 0) > performance.now() ? 'light' : 'inline'
  let spent = 0
  let progress = noProgress
  let progressOn: KnownBlock | undefined

  async function passInline<Of extends Task>(known: KnownBlock, task: Of): Promise<TaskPass<Of>> {
    // A single run tracks what it touches itself, and is seldom repeated elsewhere.
    const tracked = task.kind === 'run' ? undefined : trackState(known)
    const pass = await runInline(requester, () => {
      const allowance = {
        runSteps: inline.runSteps,
        mayGoOn: (steps: number) => steps < inline.measureSteps,
      }
      const ground = { block: known.block, known: tracked?.state ?? known, override }
      return runTask(ground, entryPoint, task, allowance)
    })
    if (tracked) wanted.add(tracked.touched)
    return pass
  }

  async function passInWorker<Of extends Task>(known: KnownBlock, task: Of): Promise<TaskPass<Of>> {
    const { version, address } = entryPoint
    const { result, milliseconds } = await pool.run({
      requester,
      isLong: place === 'heavy',
      messageFor: (send) => ({
        entryPoint: { version, address },
        override,
        known: packBlock(known, wanted, send),
        task,
        runSteps: place === 'heavy' ? MAX_STEPS : LIGHT_STEPS,
      }),
    })
    spent += milliseconds
    if (spent > MOST_REQUEST_TIME) throw new TooCostlyError('time')
    return unpackPass(result) as TaskPass<Of>
  }

  function goOnElsewhere({ kind: reason }: Interrupted): void {
    if (place === 'inline') {
      slow.set(kind, performance.now() + SLOW_FOR)
      place = 'light'
    } else if (reason === 'outgrown') {
      requester?.beginHeavyWork()
      place = 'heavy'
    }
  }

  function pass<Of extends Task>(known: KnownBlock, task: Of): Promise<TaskPass<Of>> {
    return place === 'inline' ? passInline(known, task) : passInWorker(known, task)
  }

  /** Whether there is more to do with the state that is known; a thread may only not have been sent all of it. */
  function goesOn(known: KnownBlock, end: PassEnd<{ readonly kind: 'done' }>): boolean {
    if (isInterrupted(end)) {
      goOnElsewhere(end)
      return true
    }
    if (end.kind !== 'missing') return false
    wanted.add(end.misses)
    return place !== 'inline' && end.misses.every((miss) => knows(known, miss))
  }

  /** Repeats the task, which has no progress, until a thread comes to its end. */
  async function untilEnd<Done extends { readonly kind: 'done' }>(
    known: KnownBlock,
    reads: readonly Miss[],
    runPart: () => Promise<{ readonly end: PassEnd<Done> }>,
  ): Promise<Done | Unfinished> {
    wanted.add(reads)
    for (;;) {
      const { end } = await runPart()
      if (!goesOn(known, end) && !isInterrupted(end)) return end
    }
  }

  return {
    run: (known, reads, task) => untilEnd(known, reads, () => pass(known, task)),
    runBundle: (known, reads, task) => untilEnd(known, reads, () => pass(known, task)),
    async measure(known, reads, task) {
      wanted.add(reads)
      if (progressOn !== known) progress = noProgress
      progressOn = known
      for (;;) {
        const { end, ...made } = await pass(known, { ...task, progress })
        progress = made.progress
        if (!goesOn(known, end) && !isInterrupted(end)) return end
      }
    },
  }
}

function isInterrupted(end: { readonly kind: string }): end is Interrupted {
  return end.kind === 'paused' || end.kind === 'outgrown'
}
