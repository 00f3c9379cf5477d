import type { Address, Hex } from 'viem'
import {
  type CodeAccess,
  type ExecutionRecord,
  type FrameError,
  type FrameKind,
  type FrameRecord,
  fromHex,
  keccak,
  noteOpcode,
} from '../../evm/index.js'
import type { TracedFrame } from './tracedFrame.js'

/** The facts about an address that a trace does not tell. */
export type AddressFacts = (address: Address) => Pick<CodeAccess, 'delegate' | 'precompile'>

const EXTCODESIZE = 0x3b
const extcode: readonly number[] = [EXTCODESIZE, 0x3c, 0x3f]
const NO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

const kinds: ReadonlySet<string> = new Set<FrameKind>([
  ...(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'] as const),
  ...(['CREATE', 'CREATE2'] as const),
])

/** The record of a node's trace in the form of our own recorder, so that the same rules apply to both. */
export function toRecord(root: TracedFrame, factsOf: AddressFacts): ExecutionRecord {
  return {
    root: toFrame(root, undefined, factsOf),
    preimages: (root.keccak ?? []).map(fromHex).map((input) => ({ input, hash: keccak(input) })),
    outOfGas: ranOutOfGas(root),
  }
}

function toFrame(
  traced: TracedFrame,
  parent: FrameRecord | undefined,
  factsOf: AddressFacts,
): FrameRecord {
  const { type, to = NO_ADDRESS, accessedSlots, calls = [] } = traced
  const kind = type as FrameKind
  const borrows = kind === 'DELEGATECALL' || kind === 'CALLCODE'
  const frame: FrameRecord = {
    kind,
    depth: parent === undefined ? 0 : parent.depth + 1,
    // Clients name different addresses as the caller of a DELEGATECALL.
    from: parent?.storageAddress ?? traced.from,
    to,
    storageAddress: parent !== undefined && borrows ? parent.storageAddress : to,
    value: BigInt(traced.value ?? 0),
    gas: Number(traced.gas),
    gasUsed: Number(traced.gasUsed),
    input: fromHex(traced.input),
    inputSize: (traced.input.length - 2) / 2,
    output: fromHex(traced.output ?? '0x'),
    error: errorOf(traced),
    opcodes: new Uint32Array(8),
    reads: new Map(
      entries(accessedSlots.reads).map(([slot, [value]]) => [slot, BigInt(value ?? 0)]),
    ),
    writes: new Map(entries(accessedSlots.writes)),
    transientReads: new Set(entries(accessedSlots.transientReads).map(([slot]) => slot)),
    transientWrites: new Set(entries(accessedSlots.transientWrites).map(([slot]) => slot)),
    accesses: accessesOf(traced, factsOf),
    calls: [],
  }
  for (const [opcode] of entries(traced.usedOpcodes)) noteOpcode(frame, Number(opcode))
  // Some nodes show SELFDESTRUCT as a frame; the rules look at the opcode only.
  const below = calls.filter((call) => kinds.has(call.type))
  frame.calls = below.map((call) => toFrame(call, frame, factsOf))
  return frame
}

/** The code accesses of a frame: a trace tells the first to each address, and if any read its code. */
function accessesOf(traced: TracedFrame, factsOf: AddressFacts): CodeAccess[] {
  const inspected = new Set(traced.extCodeAccessInfo)
  return entries(traced.contractSize).flatMap(([address, { contractSize, opcode }]) => {
    const isInspection = extcode.includes(opcode)
    const access = { ...factsOf(address), address, codeSize: contractSize }
    const first = { ...access, opcode, testsExistence: isInspection && !inspected.has(address) }
    if (isInspection || !inspected.has(address)) return [first]
    return [first, { ...access, opcode: EXTCODESIZE, testsExistence: false }]
  })
}

/** The error of a frame. The rules only look at out of gas and unassigned opcodes. */
function errorOf({ error, outOfGas }: TracedFrame): FrameError | undefined {
  if (outOfGas || /out of gas/i.test(error ?? '')) return 'out of gas'
  if (error === undefined) return undefined
  return /invalid opcode|not defined/i.test(error) ? 'invalid opcode' : 'reverted'
}

function ranOutOfGas(frame: TracedFrame): boolean {
  return errorOf(frame) === 'out of gas' || (frame.calls ?? []).some(ranOutOfGas)
}

function entries<V>(record: Readonly<Record<Hex, V>>): [Hex, V][] {
  return Object.entries(record) as [Hex, V][]
}
