import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { fromHex, keccak, opcodesOf } from '../../evm/index.js'
import { isTrace, type TracedFrame, toRecord, visitedAddresses } from './toRecord.js'

// Documents written by hand after the format that geth publishes for its erc7562Tracer.

const entryPoint: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const account: Address = '0x00000000000000000000000000000000000000a1'
const library: Address = '0x00000000000000000000000000000000000000b2'
const token: Address = '0x00000000000000000000000000000000000000c3'
const delegate: Address = '0x00000000000000000000000000000000000000d4'
function slot(digit: string) {
  return `0x${digit.padStart(64, '0')}` as const
}

function frame(parts: Partial<TracedFrame>): TracedFrame {
  return {
    type: 'CALL',
    from: entryPoint,
    to: account,
    gas: '0x30d40',
    gasUsed: '0x1f',
    input: '0x19822f7c',
    accessedSlots: { reads: {}, writes: {}, transientReads: {}, transientWrites: {} },
    extCodeAccessInfo: [],
    usedOpcodes: {},
    contractSize: {},
    outOfGas: false,
    ...parts,
  }
}

function facts(address: Address) {
  return {
    precompile: BigInt(address) < 0x20n,
    delegate: address === token ? delegate : undefined,
  }
}

function recordOf(calls: readonly TracedFrame[], root: Partial<TracedFrame> = {}) {
  return toRecord(frame({ from: account, to: entryPoint, calls, ...root }), facts)
}

function firstCall(parts: Partial<TracedFrame>) {
  return recordOf([frame(parts)]).root.calls[0]!
}

describe('a trace of the node, as a record', () => {
  test('keeps kind, money, gas and bytes of each frame', () => {
    const call = firstCall({ value: '0x5', output: '0x0102', gas: '0xff', gasUsed: '0x10' })
    expect(call).toMatchObject({
      kind: 'CALL',
      depth: 1,
      from: entryPoint,
      to: account,
      storageAddress: account,
      value: 5n,
      gas: 255,
      gasUsed: 16,
      error: undefined,
    })
    expect(call.input).toEqual(fromHex('0x19822f7c'))
    expect(call.output).toEqual(fromHex('0x0102'))
  })

  test.each(['DELEGATECALL', 'CALLCODE'])('%s works on the storage of its caller', (type) => {
    const nested = frame({ type, from: library, to: token })
    const call = firstCall({
      calls: [frame({ type, from: account, to: library, calls: [nested] })],
    })
    expect(call.calls[0]).toMatchObject({ from: account, to: library, storageAddress: account })
    expect(call.calls[0]!.calls[0]).toMatchObject({ from: account, storageAddress: account })
  })

  test('keeps slots of all four kinds', () => {
    const call = firstCall({
      accessedSlots: {
        reads: { [slot('1')]: [slot('ff')] },
        writes: { [slot('2')]: 3 },
        transientReads: { [slot('3')]: 1 },
        transientWrites: { [slot('4')]: 1 },
      },
    })
    expect([...call.reads]).toEqual([[slot('1'), 255n]])
    expect([...call.writes]).toEqual([[slot('2'), 3]])
    expect([...call.transientReads]).toEqual([slot('3')])
    expect([...call.transientWrites]).toEqual([slot('4')])
  })

  test('keeps opcodes by their number', () => {
    expect(opcodesOf(firstCall({ usedOpcodes: { '0x5a': 1, '0x42': 7, '0xfe': 1 } }))).toEqual([
      0x42, 0x5a, 0xfe,
    ])
  })

  test('tells looks at code from calls, and tests for existence from both', () => {
    const { accesses } = firstCall({
      contractSize: {
        [library]: { contractSize: 12, opcode: 0x3b },
        [token]: { contractSize: 23, opcode: 0x3f },
        [account]: { contractSize: 7, opcode: 0xf1 },
        [slot('1').slice(0, 2) + slot('1').slice(26)]: { contractSize: 0, opcode: 0xfa },
      },
      extCodeAccessInfo: [token, account],
    })
    expect(
      accesses.map(({ address, opcode, testsExistence }) => [address, opcode, testsExistence]),
    ).toEqual([
      [library, 0x3b, true],
      [token, 0x3f, false],
      [account, 0xf1, false],
      [account, 0x3b, false],
      ['0x0000000000000000000000000000000000000001', 0xfa, false],
    ])
    expect(accesses[1]).toMatchObject({ codeSize: 23, delegate, precompile: false })
    expect(accesses[4]).toMatchObject({ codeSize: 0, delegate: undefined, precompile: true })
  })

  test.each([
    ['out of gas', { error: 'out of gas', outOfGas: true }],
    ['out of gas', { error: 'out of gas: not enough gas for reentrancy sentry' }],
    ['out of gas', { error: 'contract creation code storage out of gas', outOfGas: true }],
    ['invalid opcode', { error: 'invalid opcode: opcode 0xc not defined' }],
    ['invalid opcode', { error: 'invalid opcode: INVALID' }],
    ['reverted', { error: 'execution reverted' }],
    ['reverted', { error: 'max call depth exceeded' }],
  ] as const)('a frame ended by %s: %j', (error, parts) => {
    expect(firstCall(parts).error).toBe(error)
    expect(recordOf([frame({ calls: [frame(parts)] })]).outOfGas).toBe(error === 'out of gas')
  })

  test('a creation that failed has no address, and SELFDESTRUCT is no frame', () => {
    const { to: _, ...nowhere } = frame({ type: 'CREATE2', error: 'execution reverted' })
    const { calls } = firstCall({ calls: [nowhere, frame({ type: 'SELFDESTRUCT' })] })
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ kind: 'CREATE2', to: `0x${'0'.repeat(40)}` })
  })

  test('has the hashes of what was hashed', () => {
    const input = fromHex(`0x${'11'.repeat(64)}`)
    const { preimages } = recordOf([], { keccak: [`0x${'11'.repeat(64)}`] })
    expect(preimages).toEqual([{ input, hash: keccak(input) }])
  })
})

test('every address that is called or looked at is visited', () => {
  const looked = { contractSize: { [token]: { contractSize: 1, opcode: 0x3b } } }
  const traced = frame({ calls: [frame({ to: library, ...looked }), frame({})] })
  expect([...visitedAddresses(traced)].sort()).toEqual([account, library, token])
})

test.each([[null], ['text'], [{}], [{ calls: [] }], [{ accessedSlots: {}, usedOpcodes: {} }]])(
  '%j is no trace of this form',
  (answer) => expect(isTrace(answer)).toBe(false),
)
