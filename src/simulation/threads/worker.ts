/** The program of a thread that runs jobs: each message is a job, each answer its end. */
import { parentPort } from 'node:worker_threads'
import { createCodeReceiver } from './codes.js'
import { createJobRunner, type Job } from './job.js'
import type { WorkerAnswer } from './workerPool.js'

const run = createJobRunner(createCodeReceiver())

parentPort?.on('message', (job: Job) => {
  const begin = performance.now()
  const answer = tryRun(job)
  const milliseconds = performance.now() - begin
  parentPort?.postMessage({ ...answer, milliseconds } satisfies WorkerAnswer<unknown>)
})

function tryRun(job: Job) {
  try {
    return { result: run(job) }
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
