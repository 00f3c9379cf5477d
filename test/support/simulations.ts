import { createSimulations } from '../../src/validation/simulations.js'
import { silent } from './logger.js'

/** The program of the threads as it was built: threads cannot run TypeScript. */
export const program = new URL('../../dist/validation/threads/worker.js', import.meta.url)

/** Simulations that all tests of a process share; their thread does not keep the process. */
export const simulations = createSimulations({ workers: 1, logger: silent, program })

/** The same, where nothing is quick enough for the calling thread. */
export const simulationsInThreads = createSimulations({
  workers: 1,
  logger: silent,
  program,
  inline: { runSteps: 1, milliseconds: 0 },
})
