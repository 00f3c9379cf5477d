import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

/** A thread that does nothing but measure how late its event loop is. */
const idle = `
  const { monitorEventLoopDelay } = require('node:perf_hooks')
  const { parentPort } = require('node:worker_threads')
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  parentPort.on('message', () => {
    parentPort.postMessage(delays.percentile(99) / 1e9)
    delays.reset()
  })`

/**
 * The event loop lag of an idle thread, which the machine alone causes: what other programs keep of its
 * cores. `p99` is in seconds, since it was last asked.
 */
export function measureMachineLag() {
  const worker = new Worker(idle, { eval: true })
  return {
    async p99(): Promise<number> {
      worker.postMessage('p99')
      const [seconds] = await once(worker, 'message')
      return seconds
    },
    stop: () => worker.terminate(),
  }
}

/** Nanoseconds in which the main thread of a process ran, and in which it waited for a core, since it began. */
function schedule(pid: number): readonly [ran: number, waited: number] {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number)
  return [ran, waited]
}

/**
 * The share of the time in which the main thread of a process had something to do that it also had a core for it: 1 on a
 * machine that does nothing else. `share` is of the time since it was last asked. A piece of work that keeps the thread for 10 ms
 * takes 40 ms where the share is a quarter.
 */
export function measureCoreShare(pid: number) {
  let before = schedule(pid)
  return {
    share(): number {
      const now = schedule(pid)
      const [ran, waited] = [now[0] - before[0], now[1] - before[1]]
      before = now
      return ran + waited === 0 ? 1 : ran / (ran + waited)
    },
  }
}
