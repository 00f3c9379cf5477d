import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createChainIdentity } from '../../src/chain/chainIdentity.js'
import {
  type HeadEvent,
  type HeadFollower,
  startHeadFollower,
} from '../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

let anvil: Anvil
let node: NodeClient
let follower: HeadFollower | undefined

beforeEach(async () => {
  anvil = await startAnvil()
  node = createNodeClient({ urls: [anvil.url], logger: silent })
})

afterEach(async () => {
  follower?.stop()
  follower = undefined
  await node.close()
  await anvil.stop()
})

function mine(blocks: number) {
  return node.request('anvil_mine', [`0x${blocks.toString(16)}`])
}
const never = 1_000_000_000

/** Follows with a poll interval (ms) and keeps the events. */
async function follow(pollInterval: number) {
  const started = await startHeadFollower({
    node,
    definition: { chainId: 31337, pollInterval },
    logger: silent,
  })
  follower = started
  const events: HeadEvent[] = []
  const heard = new EventEmitter()
  started.onHead((event) => {
    events.push(event)
    heard.emit('head', event)
  })
  return { ...started, events, heard }
}

describe('a growing chain', () => {
  test('current is known at once and new heads arrive by polling', async () => {
    const { current, heard } = await follow(10)
    expect(current().number).toBe(0n)
    const reported = once(heard, 'head')
    await mine(1)
    const [event] = (await reported) as [HeadEvent]
    expect(event).toEqual({ head: current(), reorgedFrom: undefined })
    expect(current()).toMatchObject({ number: 1n })
    expect(current().baseFee).toBeGreaterThan(0n)
  })

  test.each([1, 2, 63, 64, 65, 200])('%i blocks between polls are no reorg', async (blocks) => {
    const { refresh, events } = await follow(never)
    await mine(blocks)
    expect((await refresh()).number).toBe(BigInt(blocks))
    await mine(1)
    await refresh()
    expect(events.map(({ head, reorgedFrom }) => [head.number, reorgedFrom])).toEqual([
      [BigInt(blocks), undefined],
      [BigInt(blocks) + 1n, undefined],
    ])
  })

  test('an unchanged head tells nobody', async () => {
    const { refresh, events } = await follow(never)
    await refresh()
    await refresh()
    expect(events).toEqual([])
  })

  test('a listener that throws disturbs no other, and one that left hears nothing', async () => {
    const { refresh, onHead, events } = await follow(never)
    const stop = onHead(() => {
      throw new Error('mine')
    })
    const later: HeadEvent[] = []
    onHead((event) => later.push(event))
    await mine(1)
    await refresh()
    stop()
    await mine(1)
    await refresh()
    expect(later).toEqual(events)
    expect(later).toHaveLength(2)
  })
})

describe('a reorganised chain', () => {
  /** Replaces the newest `old` blocks by `now` others, each of which the follower hears of. */
  async function replace(old: number, now: number, refresh: () => Promise<unknown>) {
    const snapshot = await node.request('evm_snapshot', [])
    await mine(old)
    await refresh()
    await node.request('evm_revert', [snapshot])
    await node.request('evm_increaseTime', [1000])
    await mine(now)
    await refresh()
  }

  test.each([
    [1, 1],
    [3, 5],
    [5, 3],
    [10, 10],
  ])('replacing %i blocks by %i is reported with the first replaced number', async (old, now) => {
    const { refresh, events } = await follow(never)
    await mine(20)
    await refresh()
    await replace(old, now, refresh)
    expect(events.at(-1)).toMatchObject({
      head: { number: BigInt(20 + now) },
      reorgedFrom: 21n,
    })
    await mine(1)
    await refresh()
    expect(events.at(-1)?.reorgedFrom).toBeUndefined()
  })

  test('a reorg met while catching up over more blocks than remembered is still found', async () => {
    const { refresh, events } = await follow(never)
    await mine(30)
    await refresh()
    await replace(4, 100, refresh)
    expect(events.at(-1)).toMatchObject({ head: { number: 130n }, reorgedFrom: 31n })
  })

  test('a reorg deeper than memory reports the oldest remembered block', async () => {
    const snapshot = await node.request('evm_snapshot', [])
    const { refresh, events } = await follow(never)
    await mine(70)
    await refresh()
    await node.request('evm_revert', [snapshot])
    await node.request('evm_increaseTime', [1000])
    await mine(71)
    await refresh()
    expect(events.at(-1)).toMatchObject({ head: { number: 71n }, reorgedFrom: 7n })
  })

  test('a node that lags behind is not a reorg', async () => {
    const { refresh, events, current } = await follow(never)
    await mine(5)
    const snapshot = await node.request('evm_snapshot', [])
    await mine(5)
    await refresh()
    await node.request('evm_revert', [snapshot])
    await refresh()
    expect(current().number).toBe(10n)
    expect(events).toHaveLength(1)
  })

  test('a development chain has gone back when its node has the newer blocks no more', async () => {
    await node.close()
    const chain = createChainIdentity({ chainId: 31_337, restarts: true })
    node = createNodeClient({ urls: [anvil.url], logger: silent, chain })
    const { refresh, events, current } = await follow(never)
    await mine(5)
    const snapshot = await node.request('evm_snapshot', [])
    await mine(5)
    await refresh()
    await node.request('evm_revert', [snapshot])
    await refresh()
    expect(current().number).toBe(5n)
    expect(events.at(-1)).toMatchObject({ head: { number: 5n }, reorgedFrom: 6n })
    await mine(2)
    await refresh()
    expect(events.at(-1)).toMatchObject({ head: { number: 7n }, reorgedFrom: undefined })
  })
})

describe('a troubled node', () => {
  test('the start fails when the node does not answer', async () => {
    await anvil.stop()
    await expect(follow(10)).rejects.toBeInstanceOf(NodeUnavailableError)
  })

  test('the last head stays and ages while the node is away', async () => {
    const { refresh, current, age } = await follow(never)
    await mine(1)
    await refresh()
    const before = age()
    await anvil.stop()
    await expect(refresh()).rejects.toBeInstanceOf(NodeUnavailableError)
    expect(current().number).toBe(1n)
    expect(age()).toBeGreaterThan(before)
  })

  test('no event follows a stop', async () => {
    const { refresh, events, stop } = await follow(1)
    const pending = refresh()
    stop()
    await mine(1)
    await pending
    await refresh()
    expect(events).toEqual([])
  })
})
