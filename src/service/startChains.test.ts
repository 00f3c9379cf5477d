import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChainAwayError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { RunningChain } from './startChain.js'
import { startChains } from './startChains.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const definition = (chainId: number, name: string) =>
  ({ chainId, name, ruleExceptions: [] }) as unknown as ChainDefinition
const [good, hanging, replaced] = [definition(1, 'a'), definition(2, 'b'), definition(2, 'c')]

/** Chains of which the attempts to start `hanging` end when the test says so. */
async function startHanging() {
  const closed: string[] = []
  const attempts: { resolve(): void; reject(error: Error): void }[] = []
  const start = async (wanted: ChainDefinition): Promise<RunningChain> => {
    if (wanted === hanging)
      await new Promise<void>((resolve, reject) => {
        attempts.push({ resolve, reject })
      })
    const { name } = wanted
    const close = async () => void closed.push(name)
    return { services: { name }, close } as unknown as RunningChain
  }
  const starting = startChains([good, hanging], start, pino({ level: 'silent' }))
  await vi.advanceTimersByTimeAsync(5_000)
  const chains = await starting
  const names = () => [...chains.served.values()].map(({ name }) => name)
  return { chains, closed, names, attempt: attempts[0]! }
}

test.each([
  ['replaced', [good, replaced], ['a', 'c']],
  ['taken away', [good], ['a']],
])('an attempt that fails after its chain was %s says nothing of it', async (_, next, left) => {
  const { chains, names, attempt } = await startHanging()
  expect([...chains.away.keys()]).toEqual([2])
  await chains.reload(next)
  attempt.reject(new ChainAwayError('The node of chain 2 does not answer.'))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(chains.away.size).toBe(0)
  expect(names()).toEqual(left)
  await chains.close()
})

test('an attempt that succeeds after its chain was replaced is closed, and serves nothing', async () => {
  const { chains, closed, names, attempt } = await startHanging()
  await chains.reload([good, replaced])
  attempt.resolve()
  await vi.advanceTimersByTimeAsync(0)
  expect(closed).toEqual(['b'])
  expect(names()).toEqual(['a', 'c'])
  await chains.close()
  expect(closed).toEqual(['b', 'a', 'c'])
  expect(names()).toEqual([])
})
