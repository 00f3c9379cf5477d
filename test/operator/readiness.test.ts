import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type ChainHealth, checkReadiness } from '../../src/service/checkReadiness.js'
import { useDatabase } from '../support/database/database.js'

const testDatabase = useDatabase()
/** Milliseconds after which the probe of the Helm chart gives up. */
const PROBE_TIMEOUT = 3_000

const chainIds = [1, 10, 8453]

/** Questions that are not answered yet, and what happens at the last one: two of each chain. */
let asked = 0
let allAsked = () => {}

function never<Answer>(): Promise<Answer> {
  asked += 1
  if (asked === 2 * chainIds.length) allAsked()
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
  const parts = {
    database,
    chains: new Map(chainIds.map((chainId) => [chainId, silentChain])),
    away: new Map<number, string>(),
    isDraining: false,
    masterKey: randomBytes(32),
    roles: ['api' as const, 'bundler' as const],
  }
  const asking = new Promise<void>((resolve) => {
    allAsked = resolve
  })
  const checking = checkReadiness(parts, { chainId: undefined, role: 'api' })
  // No question waits for the answer to another one. What the database takes before is not measured.
  await Promise.race([asking, checking])
  expect(asked).toBe(2 * chainIds.length)
  const late = delay(PROBE_TIMEOUT, undefined, { ref: false })
  const { ready, reasons, chains } = (await Promise.race([checking, late])) ?? {
    ready: 'too late',
    reasons: [],
    chains: {},
  }
  expect(ready).toBe(true)
  expect(Object.keys(chains)).toEqual(chainIds.map(String))
  expect(reasons).toEqual(
    chainIds.map((chainId) => `The state of the executors of chain ${chainId} is unknown.`),
  )
})
