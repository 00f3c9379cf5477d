import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { ChainAwayError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { RunningChain } from './startChain.js'
import { startChains } from './startChains.js'

const definition = (chainId: number, name: string) =>
  ({ chainId, name, ruleExceptions: [] }) as unknown as ChainDefinition
const [good, hanging, replaced] = [definition(1, 'a'), definition(2, 'b'), definition(2, 'c')]

const isAway = new ChainAwayError('The node of chain 2 does not answer.')

/** Chains of which `hanging` is tried a second time, until the test says how that ends. */
async function startHanging() {
  const closed: string[] = []
  const attempts: { resolve(): void; reject(error: Error): void }[] = []
  let isFirst = true
  const start = async (wanted: ChainDefinition): Promise<RunningChain> => {
    if (wanted === hanging) {
      if (isFirst) {
        isFirst = false
        throw isAway
      }
      await new Promise<void>((resolve, reject) => {
        attempts.push({ resolve, reject })
      })
    }
    const { name } = wanted
    const close = async () => void closed.push(name)
    return { services: { name }, close } as unknown as RunningChain
  }
  const chains = await startChains([good, hanging], start, pino({ level: 'silent' }))
  await vi.waitUntil(() => attempts.length === 1, { timeout: 60_000 })
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
  attempt.reject(isAway)
  await chains.settle()
  expect(chains.away.size).toBe(0)
  expect(names()).toEqual(left)
  await chains.close()
})

test('an attempt that succeeds after its chain was replaced is closed, and serves nothing', async () => {
  const { chains, closed, names, attempt } = await startHanging()
  await chains.reload([good, replaced])
  attempt.resolve()
  await chains.settle()
  expect(closed).toEqual(['b'])
  expect(names()).toEqual(['a', 'c'])
  await chains.close()
  expect(closed).toEqual(['b', 'a', 'c'])
  expect(names()).toEqual([])
})
