import cluster, { type Worker } from 'node:cluster'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { printReady, type ReadyFacts } from '../readyFacts.js'
import { NUMBER_VARIABLE } from './groupMember.js'
import type { MemberMessage, ParentMessage } from './groupMessages.js'

/** Milliseconds before a process that ended is started again: the first time, and at most. */
const FIRST_DELAY = 1_000
const LONGEST_DELAY = 30_000
/** Milliseconds for which a process must have served so that the next end of it counts as the first. */
const STEADY_AFTER = 60_000

/** The place of one process; another one takes it when the process ends or is replaced. */
type Seat = {
  readonly number: number
  worker: Worker | undefined
  delay: number
  /** Settles when no process starts for the seat: one at a time does. */
  turn: Promise<unknown>
}

type Group = {
  readonly seats: readonly Seat[]
  /** All processes that serve or are about to end. */
  readonly workers: Set<Worker>
  readonly logger: Logger
  readonly stopping: AbortController
}

/**
 * Runs `count` processes of this same command, which share the listener, until `stopSignal` settles. One that ends is
 * started again, at growing distances. SIGHUP replaces them one after the other; SIGUSR2 is passed on. Resolves when all
 * are gone.
 *
 * A process that does not start in the beginning has said why, and ends all of them: then resolves to false.
 */
export async function superviseGroup(
  count: number,
  logger: Logger,
  stopSignal: Promise<NodeJS.Signals>,
): Promise<boolean> {
  const seats = Array.from({ length: count }, (_, at) => ({
    number: at + 1,
    worker: undefined,
    delay: FIRST_DELAY,
    turn: Promise.resolve(),
  }))
  const group: Group = { seats, workers: new Set(), logger, stopping: new AbortController() }
  const stopped = stopSignal.then((signal) => {
    logger.info({ signal }, 'stopping all processes')
    group.stopping.abort()
    return undefined
  })
  const started = startAll(group).catch((error: unknown) => {
    logger.debug({ err: error }, 'a process did not start')
    return false as const
  })
  const passOn = () => {
    for (const worker of group.workers) worker.process.kill('SIGUSR2')
  }
  process.on('SIGUSR2', passOn)
  // Until all serve there is nothing to replace, and the signal must end nothing.
  process.on('SIGHUP', ignore)
  const facts = await Promise.race([started, stopped])
  const hasFailed = facts === false
  if (facts) {
    printReady(facts)
    const release = replaceOnSignal(group)
    await stopped
    release()
  }
  group.stopping.abort()
  await Promise.all([...group.workers].map(end))
  process.off('SIGUSR2', passOn)
  process.off('SIGHUP', ignore)
  return !hasFailed
}

/** The first alone: it prepares the database, and only one says why it cannot start. */
async function startAll(group: Group): Promise<ReadyFacts | undefined> {
  const [first, ...others] = group.seats
  if (first === undefined) return undefined
  const facts = await fill(group, first)
  await Promise.all(others.map((seat) => fill(group, seat)))
  return facts
}

/** Starts a process for the seat and waits until it serves. Throws when it ends before. */
async function fill(group: Group, seat: Seat): Promise<ReadyFacts> {
  const worker = cluster.fork({ [NUMBER_VARIABLE]: String(seat.number) })
  group.workers.add(worker)
  worker.once('exit', () => group.workers.delete(worker))
  const facts = await new Promise<ReadyFacts>((resolve, reject) => {
    worker.on('message', (message: MemberMessage) => {
      if (message.kind === 'ready') resolve(message.facts)
      if (message.kind === 'gather') gather(group, worker, message.id)
      if (message.kind === 'level')
        for (const other of group.workers) if (other !== worker) send(other, message)
    })
    worker.once('exit', (code, signal) =>
      reject(new Error(`process ${seat.number} ended with ${code ?? signal}`)),
    )
  })
  seat.worker = worker
  const since = performance.now()
  worker.once('exit', (code, signal) => {
    if (seat.worker !== worker) return
    seat.worker = undefined
    if (group.stopping.signal.aborted) return
    if (performance.now() - since > STEADY_AFTER) seat.delay = FIRST_DELAY
    group.logger.error({ process: seat.number, code, signal }, 'a process ended and is restarted')
    void fillAgain(group, seat)
  })
  return facts
}

/** Runs `start` once no other process starts for the seat. */
function inTurn<Result>(seat: Seat, start: () => Promise<Result>): Promise<Result> {
  const started = seat.turn.then(start)
  seat.turn = started.catch(() => undefined)
  return started
}

async function fillAgain(group: Group, seat: Seat): Promise<void> {
  const { signal } = group.stopping
  while (!signal.aborted && seat.worker === undefined) {
    await delay(seat.delay, undefined, { signal }).catch(() => undefined)
    seat.delay = Math.min(seat.delay * 2, LONGEST_DELAY)
    try {
      await inTurn(seat, async () => {
        // A replacement may have taken the seat meanwhile.
        if (!signal.aborted && seat.worker === undefined) await fill(group, seat)
      })
    } catch (error) {
      group.logger.error({ process: seat.number, err: error }, 'a process cannot start')
    }
  }
}

/** Replaces the processes one after the other on SIGHUP; the returned function ends that. */
function replaceOnSignal(group: Group): () => void {
  let replacing = Promise.resolve()
  const onSignal = () => {
    replacing = replacing.then(() => replaceAll(group))
  }
  process.on('SIGHUP', onSignal)
  return () => process.off('SIGHUP', onSignal)
}

/** A new process that does not start leaves all as it is. */
async function replaceAll(group: Group): Promise<void> {
  for (const seat of group.seats) {
    if (group.stopping.signal.aborted) return
    try {
      await replace(group, seat)
    } catch (error) {
      group.logger.error({ process: seat.number, err: error }, 'a process was not replaced')
      return
    }
  }
  group.logger.info('all processes were replaced')
}

/**
 * The old process ends only when the new one serves. One that is just starting may have read the old files: it is waited
 * for and replaced.
 */
async function replace(group: Group, seat: Seat): Promise<void> {
  const old = await inTurn(seat, async () => {
    if (group.stopping.signal.aborted) return undefined
    const { worker } = seat
    await fill(group, seat)
    return worker
  })
  if (old !== undefined) await end(old)
}

/** Asks the other processes that serve for their metrics, and sends them on. */
function gather({ seats }: Group, asker: Worker, id: number): void {
  const others = seats.flatMap(({ worker }) =>
    worker !== undefined && worker !== asker && worker.isConnected() ? [worker] : [],
  )
  const answers = others.map((other) => metricsOf(other))
  void Promise.all(answers).then((metrics) =>
    send(asker, { kind: 'gathered', id, metrics: metrics.flat(1) }),
  )
}

/** The metrics of a process; none when it ends meanwhile. */
function metricsOf(worker: Worker): Promise<readonly object[]> {
  const id = randomInt(2 ** 47)
  return new Promise((resolve) => {
    const settle = (metrics: readonly object[]) => {
      worker.off('message', onMessage)
      worker.off('exit', onExit)
      resolve(metrics)
    }
    const onMessage = (message: MemberMessage) => {
      if (message.kind === 'metrics' && message.id === id) settle([message.metrics])
    }
    const onExit = () => settle([])
    worker.on('message', onMessage)
    worker.once('exit', onExit)
    send(worker, { kind: 'read', id })
  })
}

function send(worker: Worker, message: ParentMessage): void {
  if (worker.isConnected()) worker.send(message)
}

/** Lets the process drain and end. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return
  const ended = once(worker, 'exit')
  worker.process.kill('SIGTERM')
  await ended
}

function ignore(): void {}
