import { setImmediate } from 'node:timers/promises'
import { numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Lru } from '../../base/lru.js'
import { noAnswers, type Read, storageKey } from '../blockReads.js'
import { BlockView } from './blockView.js'
import { CodeMemory } from './codeMemory.js'

const contract = '0x00000000000000000000000000000000000000c0'
const hash = numberToHex(7, { size: 32 })
const head = {
  number: 7n,
  hash,
  parentHash: numberToHex(6, { size: 32 }),
  timestamp: 1,
  baseFee: 1n,
}
const header = {
  hash,
  coinbase: contract,
  gasLimit: 30_000_000n,
  prevRandao: hash,
  blobBaseFee: 1n,
} as const

function slot(n: number): Read & { readonly kind: 'slot' } {
  return { kind: 'slot', address: contract, slot: numberToHex(n, { size: 32 }) }
}

/** A view of a block whose slots have their own numbers, and the numbers of the slots of each batch. */
function openView() {
  const batches: number[][] = []
  const view = new BlockView(head, {
    chainId: 1,
    rules: { fork: 'prague', calldataFloor: true, readsByHash: true },
    codes: new CodeMemory(),
    creators: new Lru(1),
    readState: async (reads) => {
      const slots = reads.filter((read) => read.kind === 'slot')
      batches.push(slots.map((read) => Number(read.slot)))
      await setImmediate()
      const entries = slots.map(
        (read) => [storageKey(contract, read.slot), BigInt(read.slot)] as const,
      )
      return { ...noAnswers(), header, slots: new Map(entries) }
    },
  })
  return { view, batches }
}

describe('a block view', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  async function turns() {
    for (const _ of Array.from({ length: 5 })) await setImmediate()
  }

  test('reads what is not known, once', async () => {
    const { view, batches } = openView()
    expect(await Promise.all([view.fetch([slot(1)]), view.fetch([slot(1), slot(2)])])).toEqual([
      true,
      true,
    ])
    expect(await view.fetch([slot(2)])).toBe(false)
    expect(view.slot(contract, slot(2).slot)).toBe(2n)
    expect(batches).toEqual([[1, 2]])
  })

  test('lets an execution that comes alone not wait', async () => {
    const { view, batches } = openView()
    for (const n of [1, 2, 3]) await view.fetch([slot(n)])
    expect(batches).toEqual([[1], [2], [3]])
  })

  test('pauses between batches after executions that shared one, until few come', async () => {
    const { view, batches } = openView()
    const all = [1, 2].map((n) => view.fetch([slot(n)]))
    await turns()
    for (const n of [3, 4]) {
      all.push(view.fetch([slot(n)]))
      await turns()
    }
    expect(batches).toEqual([[1, 2]])
    await vi.advanceTimersByTimeAsync(6)
    await turns()
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
    await vi.advanceTimersByTimeAsync(31)
    for (const n of [5, 6]) await view.fetch([slot(n)])
    expect(batches.slice(2)).toEqual([[5], [6]])
    await Promise.all(all)
  })

  test('does not pause after a batch that many shared', async () => {
    const { view, batches } = openView()
    await Promise.all(Array.from({ length: 8 }, (_, n) => view.fetch([slot(n)])))
    await view.fetch([slot(9)])
    expect(batches).toHaveLength(2)
  })
})
