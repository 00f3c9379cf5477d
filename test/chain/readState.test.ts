import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BlockAnswers, BlockGone, type Read, storageKey } from '../../src/chain/blockReads.js'
import type { Head } from '../../src/chain/head.js'
import type { NodeCall } from '../../src/chain/jsonRpc.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { CodeMemory } from '../../src/chain/state/codeMemory.js'
import { createReadState, type ReadState } from '../../src/chain/state/readState.js'
import { fromHex } from '../../src/evm/index.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

const ACCOUNTS = 12
const SLOTS = 8

function addressAt(i: number): Address {
  return `0x${(0xacc0 + i).toString(16).padStart(40, '0')}`
}
function word(value: number | bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
/** Every third slot is empty. */
function valueAt(i: number, slot: number): bigint {
  return slot % 3 === 0 ? 0n : 2n ** 200n * BigInt(i + 1) + BigInt(slot)
}

let anvil: Anvil
let node: NodeClient
let head: Head
let sizes: number[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  node = createNodeClient({ urls: [anvil.url], logger: silent })
  for (let i = 0; i < ACCOUNTS; i++) {
    const address = addressAt(i)
    // Its own code would revert: it must not run.
    await node.request('anvil_setCode', [address, '0x5f5ffd'])
    await node.request('anvil_setBalance', [address, `0x${(7 * i).toString(16)}`])
    for (let slot = 0; slot < SLOTS; slot++)
      await node.request('anvil_setStorageAt', [address, word(slot), word(valueAt(i, slot))])
  }
  await node.request('anvil_mine', ['0x1'])
  head = await node.head()
})
afterAll(async () => {
  await node?.close()
  await anvil?.stop()
})
beforeEach(() => {
  sizes = []
})

/** The real node, which sees `change` of what is sent to it. */
function readerOf(change: (call: NodeCall) => NodeCall = (call) => call): ReadState {
  const codes = new CodeMemory()
  const read = createReadState((calls) => {
    sizes.push(calls.length)
    return node.batch(calls.map(change))
  }, codes)
  return async (...args) => {
    const answers = await read(...args)
    for (const [address, code] of answers.codes)
      codes.take(address, code, head.number, 'cancun', codes.era)
    return answers
  }
}

function slotRead(i: number, slot: number): Read {
  return {
    kind: 'slot',
    address: addressAt(i),
    slot: word(slot),
  }
}
const some: Read[] = [slotRead(0, 0), slotRead(0, 1), slotRead(1, 2), slotRead(2, 3)]
function values(answers: BlockAnswers): bigint[] {
  return [...answers.slots.values()]
}
const expected = [0n, valueAt(0, 1), valueAt(1, 2), 0n]

/** The overrides of an eth_call, changed. */
function overriding(change: (overrides: object) => object) {
  return (call: NodeCall) => {
    if (call.method !== 'eth_call') return call
    const [request, block, overrides] = call.params
    return { ...call, params: [request, block, change(overrides as object)] }
  }
}

describe('slots and balances', () => {
  test('are read by one call, once it has said the same as single ones', async () => {
    const read = readerOf()
    for (let i = 0; i < 3; i++) expect(values(await read(some, head, head.hash))).toEqual(expected)
    expect(sizes).toEqual([some.length + 1, 1, 1])
  })

  test('prove nothing while they are all zero', async () => {
    const read = readerOf()
    const zeros = [slotRead(0, 0), slotRead(1, 3)]
    for (let i = 0; i < 2; i++) await read(zeros, head, head.number)
    expect(sizes).toEqual([3, 3])
  })

  test('are the same jointly as by themselves, however many', async () => {
    const read = readerOf()
    await read(some, head, head.hash)
    const anyRead = fc.oneof(
      fc.tuple(fc.nat(ACCOUNTS), fc.nat(SLOTS)).map(([i, slot]) => slotRead(i, slot)),
      fc.nat(ACCOUNTS).map((i): Read => ({ kind: 'balance', address: addressAt(i) })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(anyRead, { minLength: 1, maxLength: 60 }), async (reads) => {
        const { slots, balances } = await read(reads, head, head.hash)
        for (const each of reads) {
          const i = Number(BigInt('address' in each ? each.address : 0)) - 0xacc0
          if (each.kind === 'slot') {
            const slot = Number(each.slot)
            const isKnown = i < ACCOUNTS && slot < SLOTS
            const value = slots.get(storageKey(each.address, each.slot))
            expect(value).toBe(isKnown ? valueAt(i, slot) : 0n)
          }
          if (each.kind === 'balance')
            expect(balances.get(each.address)).toBe(i < ACCOUNTS ? BigInt(7 * i) : 0n)
        }
      }),
      { numRuns: 40 },
    )
    const many = Array.from({ length: 2_500 }, (_, i) => slotRead(i % ACCOUNTS, i))
    sizes = []
    const { slots } = await read(many, head, head.hash)
    expect(sizes).toEqual([3])
    for (const [i, each] of many.entries())
      if (each.kind === 'slot')
        expect(slots.get(storageKey(each.address, each.slot))).toBe(
          i < SLOTS ? valueAt(i % ACCOUNTS, i) : 0n,
        )
  })

  test('of a block that is gone fail with that reason', async () => {
    const read = readerOf()
    await read(some, head, head.hash)
    await expect(read(some, head, word(99n))).rejects.toThrow(BlockGone)
    sizes = []
    expect(values(await read(some, head, head.hash))).toEqual(expected)
    expect(sizes).toEqual([1])
  })
})

describe('an account', () => {
  const code = fromHex('0x5f5ffd')
  const accountRead = (address: Address): Read => ({ kind: 'account', address })
  const funded: Address = '0x00000000000000000000000000000000000fed00'
  const absent: Address = '0x00000000000000000000000000000000000abc00'
  const delegated: Address = '0x00000000000000000000000000000000000de100'
  const designator = `0xef0100${'11'.repeat(20)}` as const

  beforeAll(async () => {
    await node.request('anvil_setBalance', [funded, '0x7'])
    await node.request('anvil_setNonce', [funded, '0x9'])
    await node.request('anvil_setCode', [delegated, designator])
    await node.request('anvil_mine', ['0x1'])
    head = await node.head()
  })

  test('costs one call for all, and one for each code that is new', async () => {
    const read = readerOf()
    await read(some, head, head.hash)
    sizes = []
    const first = await read([accountRead(addressAt(1)), ...some], head, head.hash)
    expect(sizes).toEqual([3])
    expect(first.codes.get(addressAt(1))).toEqual(code)
    expect(first.balances.get(addressAt(1))).toBe(7n)
    sizes = []
    await read([accountRead(addressAt(2))], head, head.hash)
    await read([accountRead(addressAt(3))], head, head.hash)
    expect(sizes).toEqual([2, 1])
    sizes = []
    const others = [addressAt(1), addressAt(2), funded, absent, delegated].map(accountRead)
    const { codes, balances, nonces, slots } = await read([...others, ...some], head, head.hash)
    expect(sizes).toEqual([2, 1])
    expect(codes).toEqual(
      new Map([
        [addressAt(1), code],
        [addressAt(2), code],
        [funded, fromHex('0x')],
        [absent, fromHex('0x')],
        [delegated, fromHex(designator)],
      ]),
    )
    expect([funded, absent].map((address) => balances.get(address))).toEqual([7n, 0n])
    // Its nonce is read where a run asks for it; that of an account that does not exist is 0.
    expect([nonces.get(funded), nonces.get(absent)]).toEqual([undefined, 0n])
    expect([...slots.values()]).toEqual(expected)
  })

  test('is read singly where the node says of code that there is none', async () => {
    // Has code, no balance: another account is looked at instead.
    const read = readerOf((call) => {
      const [request, ...others] = call.params as [{ data: string }]
      if (call.method !== 'eth_call') return call
      const data = request.data.replaceAll(addressAt(0).slice(2), absent.slice(2))
      return { ...call, params: [{ ...request, data }, ...others] }
    })
    const reads = [accountRead(addressAt(0)), slotRead(1, 2)]
    for (let i = 0; i < 2; i++)
      expect((await read(reads, head, head.hash)).codes.get(addressAt(0))).toEqual(code)
    expect(sizes).toEqual([3 + 1 + 2, 3 + 1])
  })
})

describe('a node that', () => {
  test.each([
    ['knows no overrides', overriding(() => ({}))],
    [
      'forgets the storage of whom it overrides',
      overriding((overrides) =>
        Object.fromEntries(
          Object.entries(overrides).map(([address, { code }]) => [address, { code, state: {} }]),
        ),
      ),
    ],
    ['refuses such calls', overriding(() => ({ nonsense: true }))],
  ])('%s is asked singly', async (_, change) => {
    const read = readerOf(change)
    for (let i = 0; i < 2; i++) expect(values(await read(some, head, head.hash))).toEqual(expected)
    expect(sizes).toEqual([some.length + 1, some.length])
  })

  test('takes the place of one that could read jointly is asked singly', async () => {
    let change = (call: NodeCall) => call
    const read = readerOf((call) => change(call))
    await read(some, head, head.hash)
    change = overriding(() => ({}))
    for (let i = 0; i < 3; i++) expect(values(await read(some, head, head.hash))).toEqual(expected)
    const n = some.length
    expect(sizes).toEqual([n + 1, 1, n, n + 1, n])
  })
})
