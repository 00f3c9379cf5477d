import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { type ChainHealth, checkReadiness } from '../../src/service/checkReadiness.js'
import { useDatabase } from '../support/database/database.js'

const testDatabase = useDatabase()
/** Milliseconds after which the probe of the Helm chart gives up. */
const PROBE_TIMEOUT = 3_000

function never<Answer>(): Promise<Answer> {
  return new Promise<Answer>(() => {})
}

/** A chain with new heads, of which nothing else can be found out. */
const silentChain: ChainHealth = {
  head: () => ({ number: 5n, age: 0 }),
  staleAfter: 60_000,
  nodes: () => [],
  leads: () => true,
  trouble: () => undefined,
  coming: () => undefined,
  ceilingWait: never,
  executors: never,
}

test('chains that say nothing of their executors and fees do not make the probe wait', async () => {
  const { database } = testDatabase()
  const chainIds = [1, 10, 8453]
  const parts = {
    database,
    chains: new Map(chainIds.map((chainId) => [chainId, silentChain])),
    away: new Map<number, string>(),
    isDraining: false,
    masterKey: randomBytes(32),
    roles: ['api' as const, 'bundler' as const],
  }
  const begin = performance.now()
  const { ready, reasons, chains } = await checkReadiness(parts, {
    chainId: undefined,
    role: 'api',
  })
  expect(performance.now() - begin).toBeLessThan(PROBE_TIMEOUT)
  expect(ready).toBe(true)
  expect(Object.keys(chains)).toEqual(chainIds.map(String))
  expect(reasons).toEqual(
    chainIds.map((chainId) => `The state of the executors of chain ${chainId} is unknown.`),
  )
})
