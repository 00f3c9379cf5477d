import { expect, test } from 'vitest'
import type { ExecutorStatus } from '../bundler/executorStatus.js'
import { executorAlerts, executorReasons, recently } from './checkReadiness.js'

function status(more: Partial<ExecutorStatus>): ExecutorStatus {
  return {
    role: 'executor',
    address: `0x${'11'.repeat(20)}`,
    state: 'ready',
    balance: 5n,
    inFlight: 0,
    oldestAge: undefined,
    alert: undefined,
    ...more,
  }
}
const poor = { state: 'paused', alert: 'the executor is paused: fund it' } as const

test('executors that do well give no reason', () => {
  expect(executorReasons(10, [status({}), status({ state: 'busy', inFlight: 2 })])).toEqual([])
  expect(executorReasons(10, [])).toEqual([])
})

test('a paused executor is alert with its address, and when all are nothing is sent', () => {
  const alert = `Chain 10, 0x${'11'.repeat(20)}: the executor is paused: fund it.`
  expect(executorReasons(10, [status(poor), status({})])).toEqual([])
  expect(executorAlerts(10, [status(poor), status({})])).toEqual([alert])
  const treasury = status({ role: 'treasury' })
  expect(executorReasons(10, [status(poor), treasury])).toEqual([
    'All executors of chain 10 are paused: nothing new is sent.',
  ])
})

test('executors that nobody could look at are alert as not known', () => {
  expect(executorReasons(10, undefined)).toEqual([
    'The state of the executors of chain 10 is unknown.',
  ])
})

test('many who ask at once share one answer, also a failure', async () => {
  let asked = 0
  const ask = recently(async () => {
    asked += 1
    if (asked === 1) throw new Error('no node')
    return asked
  })
  const answers = await Promise.allSettled([ask(), ask(), ask()])
  expect(answers.map((answer) => answer.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(asked).toBe(1)
})
