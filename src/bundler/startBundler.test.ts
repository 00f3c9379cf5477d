import { expect, test } from 'vitest'
import { createCycles } from './startBundler.js'

test('a cycle that waits for nothing does not keep later ones from beginning', async () => {
  let count = 0
  const cycles = createCycles(async () => {
    count++
  })
  for (const expected of [1, 2, 3]) {
    cycles.request()
    await cycles.idle()
    expect(count).toBe(expected)
  }
})

test('what is asked for during a cycle is one cycle after it', async () => {
  const gates: (() => void)[] = []
  const cycles = createCycles(() => new Promise((resolve) => gates.push(resolve)))
  cycles.request()
  cycles.request()
  cycles.request()
  expect(gates).toHaveLength(1)
  gates[0]!()
  await new Promise(setImmediate)
  expect(gates).toHaveLength(2)
  gates[1]!()
  await cycles.idle()
  expect(gates).toHaveLength(2)
})

test('a cycle that asks for another one gets it', async () => {
  let left = 3
  const cycles = createCycles(async () => {
    if (--left > 0) cycles.request()
  })
  cycles.request()
  await cycles.idle()
  expect(left).toBe(0)
})

test('stopping waits for the cycle under way, and none begins afterwards', async () => {
  const gates: (() => void)[] = []
  const cycles = createCycles(() => new Promise((resolve) => gates.push(resolve)))
  cycles.request()
  cycles.request()
  let stopped = false
  const stopping = cycles.stop().then(() => {
    stopped = true
  })
  await new Promise(setImmediate)
  expect(stopped).toBe(false)
  gates[0]!()
  await stopping
  cycles.request()
  await cycles.idle()
  expect(gates).toHaveLength(1)
})
