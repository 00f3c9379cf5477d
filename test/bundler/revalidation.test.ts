import { type Hex, numberToHex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import type { Operation } from '../../src/erc4337/operation.js'
import { useWorld } from '../support/world.js'

const versions = ['0.7'] as const
const chain = useWorld({ versions, definition: { rules: 'full' } })
const acts = () => chain().at('0.7')

let seed = 0
let op: Operation
let hash: Hex
let before: Record<string, number>

/** The validations that were run, and those that were compared before a bundle. */
async function counts(): Promise<Record<string, number>> {
  const lines = (await chain().parts.metrics.text()).split('\n')
  const sumOf = (part: string) =>
    lines
      .filter((line) => line.startsWith('purser_validations_') && line.includes(part))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  return {
    runs: sumOf('engine="inProcess"'),
    same: sumOf('outcome="same"'),
    changed: sumOf('outcome="changed"'),
  }
}

async function since(): Promise<Record<string, number>> {
  const now = await counts()
  return Object.fromEntries(
    Object.entries(now).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  )
}

/** An operation that is admitted, and a block that its bundle has to look at. */
beforeEach(async () => {
  const name = `revalidated ${++seed}`
  op = await acts().draft('deployed', name)
  await acts().fund(op.sender)
  op = await acts().sign(op, name)
  before = await counts()
  hash = await chain().admit(op, acts().entryPoint)
  await chain().mine()
})

test('an operation is run once where nothing that it read has changed', async () => {
  await chain().settle()
  expect(await chain().stateOf(hash)).toBe('included')
  expect(await since()).toEqual({ runs: 1, same: 1, changed: 0 })
})

test('more money, and changes of what it did not read, are no reason for a run', async () => {
  await acts().fund(op.sender, 10n ** 20n)
  const index = numberToHex(99n, { size: 32 })
  await chain().tester.setStorageAt({ address: op.sender, index, value: index })
  await chain().mine()
  await chain().settle()
  expect(await chain().stateOf(hash)).toBe('included')
  expect(await since()).toEqual({ runs: 1, same: 1, changed: 0 })
})

test('an account with another owner by now is run again, and dropped', async () => {
  const index = numberToHex(0n, { size: 32 })
  const value = numberToHex(0xdeadn, { size: 32 })
  await chain().tester.setStorageAt({ address: op.sender, index, value })
  await chain().mine()
  await chain().round()
  expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'AA24' })
  expect(await since()).toMatchObject({ same: 0, changed: 1 })
})

test('so is one without its money', async () => {
  await acts().fund(op.sender, 1n)
  await chain().mine()
  await chain().round()
  expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'AA21' })
  expect(await since()).toMatchObject({ same: 0, changed: 1 })
})

test('an operation that replaces another one is judged by its own validation', async () => {
  const signed = await acts().sign(
    {
      ...op,
      maxFeePerGas: op.maxFeePerGas * 2n,
      maxPriorityFeePerGas: op.maxPriorityFeePerGas * 2n,
    },
    `revalidated ${seed}`,
  )
  const replacement = await chain().admit(signed, acts().entryPoint)
  await chain().settle()
  expect(await chain().stateOf(hash)).toBe('replaced')
  expect(await chain().stateOf(replacement)).toBe('included')
  expect(await since()).toEqual({ runs: 2, same: 1, changed: 0 })
})
