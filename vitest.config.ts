import { defineConfig } from 'vitest/config'
import Sequencer from './test/support/sequencer.js'

/** Tests that start nothing: no chain, no database, no process. */
const quick = ['src/**/*.test.ts', 'test/architecture.test.ts']

/** The long forms of `npm run test:long` make many times the runs in one test. */
const isLong = [process.env.PURSER_RUNS, process.env.PURSER_FAULTS].includes('full')
const testTimeout = isLong ? 900_000 : 60_000

export default defineConfig({
  test: {
    pool: 'forks',
    // A worker keeps the modules that it has loaded: loading them took longer than most tests. No
    // file may leave behind what another one would notice; each has its own database and chain.
    isolate: false,
    setupFiles: ['test/support/seed.ts'],
    projects: [
      { extends: true, test: { name: 'quick', include: quick, ...(isLong && { testTimeout }) } },
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/**/*.test.ts'],
          exclude: quick,
          globalSetup: ['test/support/build.ts', 'test/support/runFolder.ts'],
          testTimeout,
          hookTimeout: 120_000,
        },
      },
    ],
    sequence: { sequencer: Sequencer },
    // One more than the cores that it needs: tests of processes mostly wait.
    maxWorkers: 3,
  },
})
