import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createSimulations } from '../../src/simulation/simulations.js'
import { silent } from './logger.js'

/**
 * The program of the threads as it was built: threads cannot run TypeScript. npm runs tests and benchmarks in the
 * folder of package.json.
 */
export const program = pathToFileURL(resolve('dist/simulation/threads/worker.js'))

/** Simulations that all tests of a process share; their thread does not keep the process. */
export const simulations = createSimulations({ workers: 1, logger: silent, program })
