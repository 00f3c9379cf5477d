import fc from 'fast-check'
import { type Address, type Hex, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { operationOf } from '../../../test/support/erc7562/operationOf.js'
import { type FrameRecord, fromHex } from '../../evm/index.js'
import { createEntryPoint } from '../createEntryPoint.js'
import { gasInBundle, gasOfStaked, savers } from './bundleGas.js'

function addressOf(index: number): Address {
  return numberToHex(index, { size: 20 })
}
const ENTRY_POINT = addressOf(0xe9)
const PAYMASTER = addressOf(0xa0)
const LIBRARY = addressOf(0x11b)
const entryPoint = createEntryPoint('0.9', ENTRY_POINT)
const { validateUserOp, validatePaymasterUserOp } = entryPoint.callLayout

function opOf(sender: Address) {
  return { ...operationOf(sender), paymaster: PAYMASTER }
}

/** A call by the EntryPoint. */
function call(to: Address, input: Hex, fields: Partial<FrameRecord> = {}): FrameRecord {
  return {
    kind: 'CALL',
    depth: 1,
    from: ENTRY_POINT,
    to,
    storageAddress: to,
    value: 0n,
    gas: 1_000_000,
    gasUsed: 10_000,
    input: fromHex(input),
    inputSize: fromHex(input).length,
    output: new Uint8Array(),
    error: undefined,
    opcodes: new Uint32Array(8),
    reads: new Map(),
    writes: new Map(),
    transientReads: new Set(),
    transientWrites: new Set(),
    accesses: [],
    calls: [],
    ...fields,
  }
}

function bundle(paymasters: readonly Partial<FrameRecord>[]): FrameRecord {
  return call(ENTRY_POINT, '0x', {
    depth: 0,
    calls: paymasters.flatMap((fields, i) => [
      call(addressOf(i + 1), validateUserOp),
      call(PAYMASTER, validatePaymasterUserOp, fields),
    ]),
  })
}

function usedIn(paymasters: readonly Partial<FrameRecord>[]) {
  const ops = paymasters.map((_, i) => opOf(addressOf(i + 1)))
  const used = gasInBundle(entryPoint, ops, bundle(paymasters))
  return used.map((gas) => gas.get(PAYMASTER))
}

function slot(index: number): Hex {
  return numberToHex(index, { size: 32 })
}
function reads(...slots: number[]) {
  return new Map(slots.map((each) => [slot(each), 0n]))
}
function writes(...slots: number[]) {
  return new Map(slots.map((each) => [slot(each), 1]))
}
function looksAt(address: Address, codeSize = 100) {
  return {
    address,
    codeSize,
    opcode: 0xfa,
    testsExistence: false,
    precompile: false,
    delegate: undefined,
  }
}

describe('gas of validation in a bundle', () => {
  test('is computed for each operation and entity', () => {
    const ops = [opOf(addressOf(1)), opOf(addressOf(2))]
    const used = gasInBundle(entryPoint, ops, bundle([{ gasUsed: 500 }, { gasUsed: 700 }]))
    expect(used.map((gas) => [...gas])).toEqual([
      [
        [addressOf(1), 10_000],
        [PAYMASTER, 500],
      ],
      [
        [addressOf(2), 10_000],
        [PAYMASTER, 700],
      ],
    ])
  })

  test('counts as cold what only an earlier operation warmed, and that once', () => {
    const frame = { gasUsed: 500, reads: reads(1, 2), accesses: [looksAt(LIBRARY)] }
    const twice = { ...frame, calls: [call(PAYMASTER, '0x', { reads: reads(1) })] }
    expect(usedIn([frame, twice])).toEqual([500, 500 + 2 * 2_000 + 2_500])
  })

  test('counts nothing for what was not used in the bundle', () => {
    expect(usedIn([{ gasUsed: 500, reads: reads(1) }, { gasUsed: 400 }])).toEqual([500, 400])
  })

  test('tells slots of different contracts apart', () => {
    const elsewhere = { gasUsed: 500, storageAddress: LIBRARY, reads: reads(1) }
    expect(usedIn([{ gasUsed: 500, reads: reads(1) }, elsewhere])).toEqual([500, 500])
  })

  test('knows that neither precompiles nor the EntryPoint are ever cold', () => {
    const frame = { gasUsed: 500, accesses: [looksAt(addressOf(1), 0), looksAt(ENTRY_POINT)] }
    expect(usedIn([frame, frame])).toEqual([500, 500])
  })

  test('of two operations of one sender is kept apart', () => {
    const ops = [opOf(addressOf(1)), opOf(addressOf(1))]
    const [first, second] = [bundle([{ gasUsed: 500 }]), bundle([{ gasUsed: 700 }])]
    const root = { ...first, calls: [...first.calls, ...second.calls] }
    const used = gasInBundle(entryPoint, ops, root)
    expect(used.map((gas) => gas.get(PAYMASTER))).toEqual([500, 700])
  })

  test('is not known of an operation whose calls are missing', () => {
    const ops = [opOf(addressOf(1)), opOf(addressOf(2))]
    const used = gasInBundle(entryPoint, ops, bundle([{ gasUsed: 500 }]))
    expect(used[1]?.size).toBe(0)
  })

  const slots = fc.uniqueArray(fc.nat(6), { maxLength: 5 })
  const work = fc.record({ base: fc.nat(100_000), read: slots, written: slots })

  /** What an honest contract pays for this work, after earlier operations touched `warm` and wrote `dirty`. */
  const price = (
    { base, read, written }: { base: number; read: number[]; written: number[] },
    warm: ReadonlySet<number>,
    dirty: ReadonlySet<number>,
  ): number => {
    const cold = [...new Set([...read, ...written])].filter((each) => !warm.has(each))
    const stored = written.map((each) => (dirty.has(each) ? 100 : 20_000))
    return [base, 2_000 * cold.length, ...stored].reduce((sum, each) => sum + each)
  }

  test('never makes a saver of one that does the same in company as alone', () => {
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 6 }), (works) => {
        const warm = new Set<number>()
        const dirty = new Set<number>()
        const frames = works.map((each) => {
          const gasUsed = price(each, warm, dirty)
          for (const touched of [...each.read, ...each.written]) warm.add(touched)
          for (const touched of each.written) dirty.add(touched)
          return { gasUsed, reads: reads(...each.read), writes: writes(...each.written) }
        })
        for (const [i, used] of usedIn(frames).entries()) {
          const alone = price(works[i]!, new Set(), new Set())
          if (works[i]!.written.length === 0) expect(used).toBe(alone)
          const second = new Map([[PAYMASTER, alone]])
          expect(savers(second, new Map([[PAYMASTER, used!]]))).toEqual([])
        }
      }),
    )
  })
})

describe('a saver (EREP-070)', () => {
  test('used over a tenth less, to the unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (tenth) => {
        const second = new Map([[PAYMASTER, tenth * 10]])
        expect(savers(second, new Map([[PAYMASTER, tenth * 9]]))).toEqual([])
        expect(savers(second, new Map([[PAYMASTER, tenth * 9 - 1]]))).toEqual([PAYMASTER])
        expect(savers(second, new Map([[PAYMASTER, tenth * 20]]))).toEqual([])
      }),
    )
  })

  test('ran in the bundle and was staked', () => {
    expect(savers(new Map([[PAYMASTER, 100]]), new Map([[LIBRARY, 1]]))).toEqual([])
    const entities = [
      { role: 'account', address: LIBRARY, gasUsed: 100 },
      { role: 'paymaster', address: PAYMASTER, gasUsed: 100 },
    ] as const
    const nothing = { stake: 0n, unstakeDelay: 0n }
    const stakes = { account: nothing, paymaster: { ...nothing, stake: 1n } }
    const undemanding = { minimumStake: 0n, minimumUnstakeDelay: 0n }
    const used = new Map([
      [LIBRARY, 1],
      [PAYMASTER, 1],
    ] as const)
    expect(savers(gasOfStaked(entities, stakes, undemanding), used)).toEqual([PAYMASTER])
  })
})
