import fc from 'fast-check'
import { beforeEach } from 'vitest'
import { watchFailures } from './keptFolders.js'

/** The seed of everything random in a run that has no seed of its own; a failure prints it. */
fc.configureGlobal({ seed: Number(process.env.PURSER_TEST_SEED ?? 20_260_101) })

const noteFailure = watchFailures()
beforeEach(({ onTestFailed }) => onTestFailed(noteFailure))
