import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { SimulationLostError, TooCostlyError } from '../../base/errors/simulationErrors.js'
import type { Requester } from '../../base/requester.js'
import { FairQueue } from './fairQueue.js'

/** A thread's answer to one message: a result, or the text of an error that nobody expected. */
export type WorkerAnswer<Result> =
  | Answered<Result>
  | { readonly failure: string; readonly milliseconds: number }

/** A message for a thread, made when that thread is known, and the party for which it is. */
type PoolRequest<Link, Message> = {
  readonly requester: Requester | undefined
  /** A long one leaves a thread to others where there are several. */
  readonly isLong: boolean
  readonly messageFor: (link: Link) => Message
}

type Answered<Result> = { readonly result: Result; readonly milliseconds: number }

export type WorkerPool<Link, Message, Result> = {
  /**
   * The answer to a message, when its turn came, and the milliseconds for which it kept a thread.
   * @throws TooCostlyError when the thread ran out of memory over it
   * @throws SimulationLostError when the thread ended otherwise, or took longer than `mostTime`
   */
  run(request: PoolRequest<Link, Message>): Promise<Answered<Result>>
  /** Ends all threads; what is under way or waits is refused. */
  close(): Promise<void>
}

type WorkerPoolContext<Link> = {
  /** The program of the threads. */
  readonly program: URL
  /** Threads at most; each is started when it is needed first. */
  readonly size: number
  /** What is remembered of a thread, from its start to its end. */
  readonly createLink: () => Link
  /** MB that the objects of a thread may take. */
  readonly memory: number
  /** Milliseconds that one message may take. */
  readonly mostTime: number
  readonly logger: Logger
}

type Waiting<Link, Message, Result> = PoolRequest<Link, Message> & {
  readonly resolve: (answered: Answered<Result>) => void
  readonly reject: (error: Error) => void
}

/** A thread, and the request on which it works. */
type Thread<Link, Message, Result> = {
  readonly worker: Worker
  readonly link: Link
  current: Waiting<Link, Message, Result> | undefined
  timer: NodeJS.Timeout | undefined
}

/**
 * Threads that answer messages, each one message at a time, in the order of `FairQueue`. A thread that ends is
 * replaced when the next one is needed: only the request on which it worked is refused.
 */
export function createWorkerPool<Link, Message, Result>(
  context: WorkerPoolContext<Link>,
): WorkerPool<Link, Message, Result> {
  type OurThread = Thread<Link, Message, Result>
  const { program, size, createLink, memory, mostTime, logger } = context
  const threads = new Set<OurThread>()
  const queue = new FairQueue<Waiting<Link, Message, Result>>()
  let isClosed = false

  function startThread(): OurThread {
    const worker = new Worker(program, {
      resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: YOUNG_MEMORY },
    })
    const thread: OurThread = { worker, link: createLink(), current: undefined, timer: undefined }
    threads.add(thread)
    worker.on('message', (answer: WorkerAnswer<Result>) => onAnswer(thread, answer))
    worker.on('error', (error) => onEnd(thread, error))
    worker.on('exit', () => onEnd(thread, new Error('the thread ended')))
    return thread
  }

  function onAnswer(thread: OurThread, answer: WorkerAnswer<Result>): void {
    const request = release(thread)
    queue.charge(request?.requester, answer.milliseconds)
    dispatch()
    if ('result' in answer) request?.resolve(answer)
    else request?.reject(new Error(answer.failure))
  }

  /** An error is followed by an exit, which then finds nothing to do. */
  function onEnd(thread: OurThread, error: Error & { code?: string }): void {
    if (!threads.delete(thread)) return
    const request = release(thread)
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    request?.reject(isMemory ? new TooCostlyError('memory') : new SimulationLostError(error))
    if (isClosed) return
    logger.error({ err: error }, 'a simulation worker ended')
    dispatch()
  }

  function release(thread: OurThread): Waiting<Link, Message, Result> | undefined {
    const { current, timer } = thread
    clearTimeout(timer)
    thread.current = undefined
    // An idle thread does not keep the process.
    thread.worker.unref()
    return current
  }

  function dispatch(): void {
    for (;;) {
      const idle = [...threads].find(({ current }) => current === undefined)
      if (idle === undefined && threads.size >= size) return
      const request = queue.take(({ isLong }) => !isLong || mayBeginLong())
      if (request === undefined) return
      try {
        begin(idle ?? startThread(), request)
      } catch (error) {
        request.reject(new SimulationLostError(error))
      }
    }
  }

  function mayBeginLong(): boolean {
    const long = [...threads].filter(({ current }) => current?.isLong === true).length
    return long < Math.max(1, size - 1)
  }

  function begin(thread: OurThread, request: Waiting<Link, Message, Result>): void {
    thread.current = request
    thread.worker.ref()
    thread.timer = setTimeout(() => void thread.worker.terminate(), mostTime)
    try {
      thread.worker.postMessage(request.messageFor(thread.link))
    } catch (error) {
      // What the thread was to remember of the message never reached it.
      request.reject(error as Error)
      void thread.worker.terminate()
    }
  }

  return {
    run: (request) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new SimulationLostError())
        queue.push(request.requester, { ...request, resolve, reject })
        dispatch()
      }),
    async close() {
      isClosed = true
      for (let left = queue.take(); left !== undefined; left = queue.take()) {
        left.reject(new SimulationLostError())
      }
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}

/** MB of a thread for new objects: more makes collections rarer and the process larger. */
const YOUNG_MEMORY = 8
