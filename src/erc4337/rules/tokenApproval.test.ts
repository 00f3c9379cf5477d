import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { operationOf } from '../../../test/support/erc7562/operationOf.js'
import { type FrameRecord, forks, fromHex } from '../../evm/index.js'
import { createEntryPoint } from '../createEntryPoint.js'
import type { Phase, RuleContext } from './ruleContext.js'
import { storage } from './storage.js'

function addressOf(index: number): Address {
  return numberToHex(index, { size: 20 })
}
const [SENDER, FACTORY, TANK, TOKEN, OTHER] = [1, 2, 3, 4, 5].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
]
const SLOT = numberToHex(7, { size: 32 })

/** A call that reads and writes a slot of `to`'s storage. */
function call(input: Hex, fields: Partial<FrameRecord> = {}): FrameRecord {
  const bytes = fromHex(input)
  return {
    kind: 'CALL',
    depth: 2,
    from: SENDER,
    to: TOKEN,
    storageAddress: TOKEN,
    value: 0n,
    gas: 1_000_000,
    gasUsed: 10_000,
    input: bytes.subarray(0, 36),
    inputSize: bytes.length,
    output: new Uint8Array(),
    error: undefined,
    opcodes: new Uint32Array(8),
    reads: new Map([[SLOT, 0n]]),
    writes: new Map([[SLOT, 1]]),
    transientReads: new Set(),
    transientWrites: new Set(),
    accesses: [],
    calls: [],
    ...fields,
  }
}

function approval(spender: Address): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 9n] })
}

const balance = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [TANK] })
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TANK, 1n] })
const other = encodeFunctionData({ abi: parseAbi(['function look(address)']), args: [TANK] })

/** The rules that a deployment with these calls breaks in some of its frames. */
function rulesOf(
  calls: FrameRecord[],
  frames: readonly FrameRecord[],
  { name = 'deployment' as Phase['name'], paymentToken = TOKEN } = {},
): string[] {
  const root = call('0x', { from: OTHER, to: FACTORY, storageAddress: FACTORY, calls })
  const entity = { role: 'factory', address: FACTORY, staked: false } as const
  const context: RuleContext = {
    op: { ...operationOf(SENDER), paymaster: TANK },
    entryPoint: createEntryPoint('0.7', OTHER),
    fork: forks.at(-1)!,
    limits: {} as RuleContext['limits'],
    senderExists: false,
    entities: { factory: entity, paymaster: { role: 'paymaster', address: TANK, staked: true } },
    paymentToken,
    isAssociated: () => false,
  }
  const phase: Phase = { name, entity, delegate: undefined, root, gasUsed: 0 }
  return frames.flatMap((frame) => storage(context, phase, frame).map(({ rule }) => rule))
}

/** The rules that the deployment breaks in a frame below it. */
function rules(
  top: FrameRecord,
  { frame = top, ...settings }: { frame?: FrameRecord } & Parameters<typeof rulesOf>[2] = {},
): string[] {
  return rulesOf([top], [frame], settings)
}

test('the new account may approve the tank, also where the token is behind a proxy', () => {
  expect(rules(call(approval(TANK)))).toEqual([])
  const library = call(other, { kind: 'DELEGATECALL', from: TOKEN, to: addressOf(7) })
  const implementation = call(approval(TANK), {
    kind: 'DELEGATECALL',
    from: TOKEN,
    to: OTHER,
    calls: [library],
  })
  const top = call(approval(TANK), { calls: [implementation] })
  for (const frame of [top, implementation, library]) expect(rules(top, { frame })).toEqual([])
})

test('it may do nothing else with the token', () => {
  for (const input of [balance, transfer, other, approval(OTHER), '0x', '0x095ea7b3'] as const)
    expect(rules(call(input))).not.toEqual([])
})

test('nobody else may approve, and nothing that an approval calls may use the token', () => {
  const approves = approval(TANK)
  expect(rules(call(approves, { from: FACTORY }))).not.toEqual([])
  expect(rules(call(approves, { kind: 'STATICCALL' }))).not.toEqual([])
  expect(rules(call(approves, { kind: 'DELEGATECALL', to: OTHER }))).not.toEqual([])
  const back = call(balance, { from: OTHER })
  const hook = call('0x', { from: TOKEN, to: OTHER, storageAddress: OTHER, calls: [back] })
  expect(rules(call(approves, { calls: [hook] }), { frame: back })).not.toEqual([])
  const stranger = call(approves, { from: FACTORY, calls: [] })
  const inner = call(approves, { kind: 'DELEGATECALL', from: TOKEN, to: OTHER })
  expect(rules({ ...stranger, calls: [inner] }, { frame: inner })).not.toEqual([])
})

test('it may in its deployment and in the token of the tank only', () => {
  expect(rules(call(approval(TANK)), { name: 'account' })).not.toEqual([])
  expect(rules(call(approval(TANK)), { paymentToken: OTHER })).not.toEqual([])
})

test('a deployment that calls the token thousands of times is judged in a moment', () => {
  const calls = Array.from({ length: 3_000 }, () => call(approval(OTHER)))
  const begin = performance.now()
  expect(rulesOf(calls, calls)).toHaveLength(calls.length)
  expect(performance.now() - begin).toBeLessThan(4_000)
})
