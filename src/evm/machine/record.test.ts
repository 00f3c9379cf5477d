import { describe, expect, it } from 'vitest'
import {
  addressOf,
  CONTRACT,
  contextOn,
  done,
  hex,
  messageTo,
  OTHER,
  pushAddress,
  runCode,
  SENDER,
  TEST_BLOCK,
  word,
  worldOf,
} from '../../../test/evm/harness.js'
import { fromHex } from '../bytes/hex.js'
import { keccak } from '../bytes/keccak.js'
import { call } from '../call.js'
import { create2Address, createAddress } from '../createAddress.js'
import type { Fork } from '../forks.js'
import { isAssigned } from './instructions.js'
import { opcodesOf, usesOpcode } from './record.js'

/** A call of the given opcode to `to` with all gas and no data, result dropped. */
function callTo(opcode: 'f1' | 'f2' | 'f4' | 'fa', to: `0x${string}`, value = '5f'): string {
  const worth = opcode === 'f1' || opcode === 'f2' ? value : ''
  return `5f5f5f5f${worth}${pushAddress(to)}5a${opcode}50`
}

describe('record: frames', () => {
  it('is absent when it was not wanted', () => {
    const state = worldOf({ [CONTRACT]: { code: '0x5f5f20' } })
    expect(
      done(call(contextOn(state, { record: false }), messageTo(CONTRACT))).record,
    ).toBeUndefined()
  })

  it('nests calls with their kind, parties, value, gas and outcome', () => {
    const inner = '0x600160005260206000fd'
    const code = hex(callTo('f1', OTHER, '6007'), callTo('fa', addressOf(4)))
    const others = { [CONTRACT]: { code, balance: 100n }, [OTHER]: { code: inner } } as const
    const { root } = runCode(code, others).record
    expect(root).toMatchObject({ kind: 'CALL', from: SENDER, to: CONTRACT, depth: 0 })
    const [reverted, precompile] = root.calls
    expect(reverted).toMatchObject({
      kind: 'CALL',
      from: CONTRACT,
      to: OTHER,
      storageAddress: OTHER,
      value: 7n,
      depth: 1,
      error: 'reverted',
      output: fromHex(word(1)),
      gasUsed: 18,
    })
    expect(precompile).toMatchObject({ kind: 'STATICCALL', to: addressOf(4), gasUsed: 15 })
    expect(precompile!.error).toBeUndefined()
  })

  it('keeps calldata and return data although memory is used again', () => {
    const code = hex('60aa5f5360bb60015360025f60025f5f', '60045a', 'f1', '50', '5f5f53')
    const { calls } = runCode(code).record.root
    expect(calls[0]).toMatchObject({ input: fromHex('0xaabb'), output: fromHex('0xaabb') })
  })

  it('tells storage address and code address of a delegate call apart', () => {
    const library = '0x5f54600155'
    const code = hex(callTo('f4', OTHER))
    const { root } = runCode(code, { [OTHER]: { code: library } }).record
    const [frame] = root.calls
    expect(frame).toMatchObject({ kind: 'DELEGATECALL', to: OTHER, storageAddress: CONTRACT })
    expect([...frame!.reads.keys()]).toEqual([word(0)])
    expect([...frame!.writes]).toEqual([[word(1), 1]])
    expect(root.reads.size + root.writes.size).toBe(0)
  })

  it('notes calls that never began', () => {
    const code = hex(callTo('f1', OTHER, '6007'))
    const { calls } = runCode(code).record.root
    expect(calls[0]).toMatchObject({ error: 'balance too low', gasUsed: 0 })
  })

  it('gives the address of creations, also of failed ones', () => {
    const initcode = '5f5ffd'
    const store = `62${initcode}5f52`
    const code = hex(store, '6003601d5ff0', '602a6003601d5ff5')
    const { calls } = runCode(code).record.root
    expect(calls).toMatchObject([
      { kind: 'CREATE', to: createAddress(CONTRACT, 0n), error: 'reverted' },
      {
        kind: 'CREATE2',
        to: create2Address(CONTRACT, 42n, fromHex(hex(initcode))),
        error: 'reverted',
      },
    ])
  })
})

describe('record: opcodes', () => {
  it('lists what the frame itself executed, arithmetic and stack left out', () => {
    const code = hex('4250', callTo('fa', OTHER))
    const { root } = runCode(code, { [OTHER]: { code: '0x4350' } }).record
    expect(opcodesOf(root)).toEqual([0x42, 0xfa])
    expect(opcodesOf(root.calls[0]!)).toEqual([0x43])
  })

  it.each([
    ['f1', '5f5f5f5f5f5f5a', false],
    ['f2', '5f5f5f5f5f5f5a', false],
    ['f4', '5f5f5f5f5f5a', false],
    ['fa', '5f5f5f5f5f5a', false],
    ['f1', '5f5f5f5f5f5f5a5b', true],
    ['50', '5a', true],
  ])('GAS before %s after %s counts: %s', (next, before, counts) => {
    expect(usesOpcode(runCode(hex(before, next)).record.root, 0x5a)).toBe(counts)
  })

  it('includes unassigned opcodes, INVALID and those that fail', () => {
    expect(opcodesOf(runCode('0x0c').record.root)).toEqual([0x0c])
    expect(opcodesOf(runCode('0xfe').record.root)).toEqual([0xfe])
    expect(opcodesOf(runCode('0x31').record.root)).toEqual([0x31])
  })
})

describe('assigned opcodes', () => {
  it.each([
    ['shanghai', 0x5c, false],
    ['cancun', 0x5c, true],
    ['prague', 0x1e, false],
    ['osaka', 0x1e, true],
    ['osaka', 0x0c, false],
    ['osaka', 0xfe, false],
    ['shanghai', 0x00, true],
  ] as const)('%s has %i: %s', (fork, opcode, assigned) => {
    expect(isAssigned(fork, opcode)).toBe(assigned)
  })
})

describe('record: storage', () => {
  it('keeps the first value read and counts writes', () => {
    const code = '0x600154506007600155600154506008600155'
    const { root } = runCode(code, { [CONTRACT]: { code, storage: { 1: 5n } } }).record
    expect([...root.reads]).toEqual([[word(1), 5n]])
    expect([...root.writes]).toEqual([[word(1), 2]])
  })

  it('keeps transient storage apart', () => {
    const { root } = runCode('0x60035c506001600 45d'.replace(' ', '') as `0x${string}`).record
    expect([...root.transientReads]).toEqual([word(3)])
    expect([...root.transientWrites]).toEqual([word(4)])
    expect(root.reads.size + root.writes.size).toBe(0)
  })
})

describe('record: preimages', () => {
  it('keeps inputs of 32 to 1,024 bytes with their hash', () => {
    const hashes = ['601f5f20', '60205f20', '6104005f20', '6104015f20'].join('50')
    const { preimages } = runCode(hex(hashes)).record
    expect(preimages.map(({ input }) => input.length)).toEqual([32, 1024])
    expect(preimages[0]!.hash).toEqual(keccak(new Uint8Array(32)))
  })
})

describe('record: code accesses', () => {
  it('gives the code size at that moment', () => {
    const sizeOf = (address: `0x${string}`) => hex(pushAddress(address), '3b50').slice(2)
    const created = createAddress(CONTRACT, 0n)
    const initcode = '6001600c60003960016000f300'
    const create = `6c${initcode}5f52600d60135ff0`
    const code = hex(sizeOf(created), create, sizeOf(created))
    const { accesses } = runCode(code).record.root
    expect(accesses.map(({ address, codeSize }) => [address, codeSize])).toEqual([
      [created, 0],
      [created, 1],
    ])
  })

  it.each([
    ['3b', '15', true],
    ['3b', '50', false],
    ['3f', '15', false],
  ])('%s followed by %s is a test for existence: %s', (opcode, next, tests) => {
    const { accesses } = runCode(hex(pushAddress(OTHER), opcode, next)).record.root
    expect(accesses).toMatchObject([{ address: OTHER, testsExistence: tests }])
  })

  it('includes calls and names the delegate of an EIP-7702 account', () => {
    const library = addressOf(0x777)
    const others = { [OTHER]: { code: hex('ef0100', library) } } as const
    const { accesses } = runCode(hex(callTo('f1', OTHER)), others).record.root
    expect(accesses).toEqual([
      {
        opcode: 0xf1,
        address: OTHER,
        codeSize: 23,
        delegate: library,
        precompile: false,
        testsExistence: false,
      },
    ])
  })

  it('tells a precompile from an address without code, by fork', () => {
    const p256 = addressOf(0x100)
    const code = hex(callTo('fa', p256))
    const accessOn = (fork: Fork) =>
      runCode(code, {}, { block: { ...TEST_BLOCK, fork } }).record.root.accesses
    expect(accessOn('osaka')).toMatchObject([{ address: p256, codeSize: 0, precompile: true }])
    expect(accessOn('prague')).toMatchObject([{ address: p256, codeSize: 0, precompile: false }])
  })
})

describe('record: out of gas', () => {
  const loop = '0x5b5f56'

  it('is seen in a frame that its caller survived', () => {
    const code = hex('5f5f5f5f', pushAddress(OTHER), '6064fa')
    const { success, record } = runCode(code, { [OTHER]: { code: loop } })
    expect(success).toBe(true)
    expect(record.outOfGas).toBe(true)
    expect(record.root.calls[0]).toMatchObject({ error: 'out of gas', gasUsed: 100 })
  })

  it('is seen at the SSTORE sentry', () => {
    const code = hex('5f5f5f5f5f', pushAddress(OTHER), '6108ff', 'f1')
    const { record } = runCode(code, { [OTHER]: { code: '0x5f5f55' } })
    expect(record.outOfGas).toBe(true)
  })

  it('is not reverting, nor any other halt', () => {
    const code = hex(callTo('fa', OTHER))
    for (const inner of ['0x5f5ffd', '0xfe', '0x56', '0x600156'] as const) {
      expect(runCode(code, { [OTHER]: { code: inner } }).record.outOfGas).toBe(false)
    }
  })
})
