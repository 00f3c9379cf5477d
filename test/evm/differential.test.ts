import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fork } from '../../src/evm/index.js'
import { randomRuns } from '../support/runs.js'
import { type Anvil, hasReference, startReference } from './anvil.js'
import { type Comparison, createComparison } from './differential.js'

/** `npm run fuzz:evm` raises the count and takes another seed. */
const COUNT = Number(process.env.PURSER_EVM_FUZZ_COUNT ?? randomRuns(1_200))
const SEED = Number(process.env.PURSER_EVM_FUZZ_SEED ?? 1)
const BATCH = 50
const FORKS: Fork[] = ['shanghai', 'cancun', 'prague', 'osaka', 'amsterdam']

describe.each(FORKS.filter(hasReference))('random programs on %s, compared with a node', (fork) => {
  let anvil: Anvil
  let comparison: Comparison

  beforeAll(async () => {
    anvil = await startReference(fork)
    comparison = await createComparison(anvil, fork)
  })

  afterAll(async () => anvil?.stop())

  it(`agree in output, gas, logs, storage and frames (${COUNT} from seed ${SEED})`, {
    timeout: 60_000 + 40 * COUNT,
  }, async () => {
    let succeeded = 0
    for (let done = 0; done < COUNT; done += BATCH) {
      const size = Math.min(BATCH, COUNT - done)
      const seeds = Array.from({ length: size }, (_, i) => 1_000_000 * SEED + done + i)
      const result = await comparison.compare(seeds)
      expect(result.differences).toEqual([])
      succeeded += result.succeeded
    }
    expect(succeeded).toBeGreaterThan(COUNT / 4)
  })
})
