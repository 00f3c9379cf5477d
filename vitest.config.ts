import { defineConfig } from 'vitest/config'
import { featureFiles } from './test/features.js'
import Sequencer from './test/support/sequencer.js'

/** Tests that start nothing: no chain, no database, no process. */
const quick = ['src/**/*.test.ts', 'console/**/*.test.ts', 'test/architecture.test.ts']

/** The long forms of `npm run test:long` make many times the runs in one test. */
const isLong = [process.env.PURSER_RUNS, process.env.PURSER_FAULTS].includes('full')
/** Ends a test that hangs, after every wait of its own (`until`) has given up; no slow machine needs it. */
const testTimeout = isLong ? 900_000 : 300_000

/** `npm test` proves every feature once; `npm run test:all`, and a run that names its files, knows all tests. */
const include = process.env.PURSER_TESTS === 'features' ? [...featureFiles] : ['test/**/*.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    // A worker keeps the modules that it has loaded: loading them took longer than most tests. No
    // file may leave behind what another one would notice; each has its own database and chain.
    isolate: false,
    setupFiles: ['test/support/seed.ts'],
    testTimeout,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: 'quick', include: quick } },
      {
        extends: true,
        test: {
          name: 'full',
          include,
          exclude: [...quick, '**/node_modules/**'],
          globalSetup: ['test/support/build.ts', 'test/support/runFolder.ts'],
        },
      },
    ],
    sequence: { sequencer: Sequencer },
    // One more than the cores that it needs: tests of processes mostly wait.
    maxWorkers: 3,
  },
})
