import type { Address, Hex } from 'viem'
import type { FrameError } from './signal.js'

/** A log as a contract emits it. */
export type EvmLog = { address: Address; topics: Hex[]; data: Uint8Array }

export type FrameKind = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2'

/** One touch of another account's code: a *CALL, or EXTCODESIZE, EXTCODECOPY, EXTCODEHASH. */
export type CodeAccess = {
  opcode: number
  address: Address
  /** Size of its code at that moment: 23 for an EIP-7702 account, 0 for a precompile. */
  codeSize: number
  /** The EIP-7702 delegate, when the account has one. */
  delegate: Address | undefined
  /** A precompile of this block's fork or chain, which runs although it has no code (OP-062). */
  precompile: boolean
  /** EXTCODESIZE directly followed by ISZERO: a mere test for existence (OP-051). */
  testsExistence: boolean
}

/** The actions of one frame, without those of the frames below it. */
export type FrameRecord = {
  kind: FrameKind
  depth: number
  /** The account that made the call or creation. */
  from: Address
  /** The account called, or the address created. */
  to: Address
  /** The account whose storage the code works on: differs from `to` in DELEGATECALL and CALLCODE. */
  storageAddress: Address
  value: bigint
  gas: number
  gasUsed: number
  /**
   * Calldata, or initcode. Below the frames that the outermost one calls only its first 36 bytes, a
   * selector and an argument: all that the rules read there.
   */
  input: Uint8Array
  /** Bytes of the whole calldata or initcode. */
  inputSize: number
  /** Empty below the frames that the outermost one calls. */
  output: Uint8Array
  error: FrameError | undefined
  /** Set of opcodes, one bit each: ask `usesOpcode` and `opcodesOf`. */
  opcodes: Uint32Array
  /** First value read, by slot. */
  reads: Map<Hex, bigint>
  /** Number of writes, by slot. */
  writes: Map<Hex, number>
  transientReads: Set<Hex>
  transientWrites: Set<Hex>
  accesses: CodeAccess[]
  calls: FrameRecord[]
  /** Of a detailed record only. */
  detail?: FrameDetail | undefined
}

/** The logs of a frame, and the first and last value of each slot that it wrote; undone ones too. */
export type FrameDetail = {
  readonly logs: EvmLog[]
  readonly slots: Map<Hex, { readonly before: bigint; readonly after: bigint }>
}

/** A hashed input, kept so that storage slots can be traced to the address they belong to. */
export type Preimage = { input: Uint8Array; hash: Uint8Array }

/** All actions of a run that the rules of ERC-7562 are about. Undone frames stay in it. */
export type ExecutionRecord = {
  root: FrameRecord
  /** KECCAK256 inputs of 32 to 1,024 bytes, in order. */
  preimages: Preimage[]
  /** Whether any frame ran out of gas, the SSTORE sentry included (OP-020). */
  outOfGas: boolean
}

/** The deepest frames whose input and output are kept: those that the EntryPoint calls. */
const DEPTH_KEPT = 1
/** Bytes of an input that are kept of deeper frames. */
const INPUT_KEPT = 36

/**
 * Bytes that a record may take; it is given up beyond them. A validation that is honest records some
 * 100 kB. Instructions that record something are cheap, so gas alone would allow gigabytes, and many
 * validations are under way at once.
 */
export const MAX_RECORD_BYTES = 8 << 20
/** Bytes that a frame takes without its bytes fields, and an entry of one of its sets, roughly. */
export const FRAME_BYTES = 1_200
export const ENTRY_BYTES = 150

/** The number of bytes that a record keeps of the input of a frame. */
export function inputKept(depth: number, size: number): number {
  return depth <= DEPTH_KEPT ? size : Math.min(size, INPUT_KEPT)
}

/** The number of bytes that a record keeps of the output of a frame. */
export function outputKept(depth: number, size: number): number {
  return depth <= DEPTH_KEPT ? size : 0
}

const PREIMAGE_MIN = 32
const PREIMAGE_MAX = 1024

/** Whether a KECCAK256 input of this size is kept. */
export function keepsPreimage(size: number): boolean {
  return size >= PREIMAGE_MIN && size <= PREIMAGE_MAX
}

/**
 * Whether the frame itself executed `opcode`. Recorded are all opcodes except those that only move data
 * on stack and memory or jump (arithmetic, PUSH, DUP, SWAP, MLOAD, JUMP…). GAS counts only where
 * no *CALL follows directly (OP-012). Unassigned opcodes are included (OP-013).
 */
export function usesOpcode(frame: FrameRecord, opcode: number): boolean {
  return (frame.opcodes[opcode >>> 5]! & (1 << (opcode & 31))) !== 0
}

/** The frame's recorded opcodes in ascending order. */
export function opcodesOf(frame: FrameRecord): number[] {
  const opcodes: number[] = []
  for (let opcode = 0; opcode < 256; opcode++) if (usesOpcode(frame, opcode)) opcodes.push(opcode)
  return opcodes
}

/** Adds `opcode` to the frame's set. */
export function noteOpcode(frame: FrameRecord, opcode: number): void {
  frame.opcodes[opcode >>> 5]! |= 1 << (opcode & 31)
}
