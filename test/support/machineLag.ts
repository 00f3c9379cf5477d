import { once } from 'node:events'
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
