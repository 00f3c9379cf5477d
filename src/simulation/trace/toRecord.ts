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

/** The facts about an address that a trace does not have. */
type AddressFacts = (address: Address) => Pick<CodeAccess, 'delegate' | 'precompile'>

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

/** The code accesses of a frame: a trace has the first to each address, and if any read its code. */
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

/**
 * A frame in the format of geth's `erc7562Tracer`, which our collector has too. The node is trusted to
 * answer in this form, as its answer to the probe at the start had it.
 */
export type TracedFrame = {
  readonly type: string
  readonly from: Address
  /** Absent for a creation that failed. */
  readonly to?: Address
  /** gas, as are `gasUsed` and the other quantities */
  readonly gas: Hex
  readonly gasUsed: Hex
  readonly value?: Hex
  readonly input: Hex
  readonly output?: Hex
  /** An error in the node's own words. */
  readonly error?: string
  readonly accessedSlots: {
    /** Values that were read, by slot. */
    readonly reads: Readonly<Record<Hex, readonly Hex[]>>
    /** Number of writes, by slot. */
    readonly writes: Readonly<Record<Hex, number>>
    readonly transientReads: Readonly<Record<Hex, number>>
    readonly transientWrites: Readonly<Record<Hex, number>>
  }
  /** Addresses whose code was read by EXTCODE*, except by EXTCODESIZE ISZERO. */
  readonly extCodeAccessInfo: readonly Address[]
  /** Number of uses, by opcode; GAS only where no *CALL follows. */
  readonly usedOpcodes: Readonly<Record<Hex, number>>
  /** Bytes of code of each address that was called or inspected, with the first opcode that did it. */
  readonly contractSize: Readonly<
    Record<Address, { readonly contractSize: number; readonly opcode: number }>
  >
  readonly outOfGas: boolean
  readonly calls?: readonly TracedFrame[]
  /** Inputs of KECCAK256 in the whole run; on the outermost frame only. */
  readonly keccak?: readonly Hex[]
}

/** Whether `answer` is a trace in this form, as far as its outermost frame shows. */
export function isTrace(answer: unknown): answer is TracedFrame {
  if (typeof answer !== 'object' || answer === null) return false
  const { accessedSlots, usedOpcodes, contractSize } = answer as Partial<TracedFrame>
  return [accessedSlots, usedOpcodes, contractSize].every((part) => typeof part === 'object')
}

/** The addresses whose code a trace used, without doubles. */
export function visitedAddresses(frame: TracedFrame): Set<Address> {
  const visited = new Set<Address>()
  const visit = ({ to, contractSize, calls = [] }: TracedFrame) => {
    if (to !== undefined) visited.add(to)
    for (const address of Object.keys(contractSize)) visited.add(address as Address)
    for (const call of calls) visit(call)
  }
  visit(frame)
  return visited
}
