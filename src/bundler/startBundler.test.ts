import { expect, test } from 'vitest'
import { currentRequester, workFor } from '../base/requester.js'
import { createRounds } from './startBundler.js'

test('a round that waits for nothing does not keep later ones from beginning', async () => {
  let count = 0
  const rounds = createRounds(async () => {
    count++
  })
  for (const expected of [1, 2, 3]) {
    rounds.request()
    await rounds.idle()
    expect(count).toBe(expected)
  }
})

test('what is asked for during a round is one round after it', async () => {
  const gates: (() => void)[] = []
  const rounds = createRounds(() => new Promise((resolve) => gates.push(resolve)))
  rounds.request()
  rounds.request()
  rounds.request()
  expect(gates).toHaveLength(1)
  gates[0]!()
  await new Promise(setImmediate)
  expect(gates).toHaveLength(2)
  gates[1]!()
  await rounds.idle()
  expect(gates).toHaveLength(2)
})

test('a round that asks for another one gets it', async () => {
  let left = 3
  const rounds = createRounds(async () => {
    if (--left > 0) rounds.request()
  })
  rounds.request()
  await rounds.idle()
  expect(left).toBe(0)
})

test('stopping waits for the round under way, and none begins afterwards', async () => {
  const gates: (() => void)[] = []
  const rounds = createRounds(() => new Promise((resolve) => gates.push(resolve)))
  rounds.request()
  rounds.request()
  let stopped = false
  const stopping = rounds.stop().then(() => {
    stopped = true
  })
  await new Promise(setImmediate)
  expect(stopped).toBe(false)
  gates[0]!()
  await stopping
  rounds.request()
  await rounds.idle()
  expect(gates).toHaveLength(1)
})

test('a round that a request led to works for nobody but the service', async () => {
  const parties: unknown[] = []
  const rounds = createRounds(async () => {
    parties.push(currentRequester())
  })
  workFor({ name: 'key', since: 0, spent: 0, spend() {}, beginHeavyWork() {} }, rounds.request)
  await rounds.idle()
  expect(parties).toEqual([undefined])
})
