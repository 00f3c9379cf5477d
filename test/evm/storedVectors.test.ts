import { beforeAll, describe, expect, it } from 'vitest'
import type { Fork } from '../../src/evm/index.js'
import { shareOf } from '../support/runs.js'
import { createReplay, readStored, type StoredVectors, writeStored } from './storedVectors.js'

const FORKS: readonly Fork[] = ['prague', 'osaka', 'amsterdam']
const COUNT = 1_000

describe.each(FORKS)('stored answers of a node of %s', (fork) => {
  let stored: StoredVectors

  beforeAll(async () => {
    // `npm run vectors:evm` makes them anew.
    if (process.env.PURSER_EVM_STORE !== undefined) await writeStored(fork, 50_000_000, COUNT)
    stored = readStored(fork)
  })

  it('are what our EVM says, to the unit of gas, in output, logs and frames', async () => {
    const replay = await createReplay(stored)
    const differing = shareOf(stored.cases).filter(([seed, gasUsed, digest]) => {
      const [ourGas, ourDigest] = replay(seed)
      return ourGas !== gasUsed || ourDigest !== digest
    })
    expect(differing).toEqual([])
    expect(stored.cases).toHaveLength(COUNT)
  })
})
