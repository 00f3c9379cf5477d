import type { EvmAccount } from '../state/account.js'
import { type Code, emptyBytes, emptyCode } from '../state/code.js'
import type { Message } from './message.js'
import type { FrameRecord } from './record.js'
import { Exhausted } from './signal.js'

export const STACK_LIMIT = 1024
const MEMORY_START = 4096
const MEMORY_KEPT = 1 << 20
/** No block can pay for this much; only an `eth_call` with an absurd gas limit gets here. */
const MEMORY_LIMIT = 1 << 27

/**
 * One frame of execution: stack, memory and registers. Frames are pooled by depth, so every field
 * is set again on entry.
 *
 * A stack word is eight 32-bit limbs, least significant first; `wide` shows the same bytes as
 * four 64-bit limbs (the host is little-endian wherever Node runs).
 */
export class Frame {
  readonly stack = new Uint32Array(8 * STACK_LIMIT)
  readonly wide = new BigUint64Array(this.stack.buffer)
  memory = new Uint8Array(MEMORY_START)
  /** Bytes of memory in use; always a multiple of 32. */
  size = 0
  memoryCost = 0
  pc = 0
  sp = 0
  gas = 0
  /** See `GasBudget`. */
  reservoir = 0
  spilled = 0
  /** Gas that was more than enough at each point of the frame's run so far; its end counts besides. */
  slack = Infinity
  isStatic = false
  code: Code = emptyCode
  input: Uint8Array = emptyBytes
  /** Output of the last call made by this frame. */
  returnData: Uint8Array = emptyBytes
  /** Output of this frame, set by RETURN and REVERT: a view of its memory. */
  output: Uint8Array = emptyBytes
  value = 0n
  caller!: EvmAccount
  /** The account whose storage and balance the code works on. */
  self!: EvmAccount
  /** The message that entered this frame. */
  message!: Message
  /** Journal position to return to when this frame fails. */
  mark = 0
  record: FrameRecord | undefined = undefined

  /** Prepares the frame for new code; the caller sets the remaining fields. */
  reset(code: Code, gas: number, reservoir: number): void {
    this.code = code
    this.gas = gas
    this.reservoir = reservoir
    this.spilled = 0
    this.slack = Infinity
    this.size = 0
    this.memoryCost = 0
    this.pc = 0
    this.sp = 0
    this.returnData = emptyBytes
    this.output = emptyBytes
  }

  /** Drops the references of the last run, and unusually large memory. */
  release(): void {
    this.record = undefined
    this.input = emptyBytes
    this.returnData = emptyBytes
    this.output = emptyBytes
    if (this.memory.length > MEMORY_KEPT) this.memory = new Uint8Array(MEMORY_START)
  }

  /** Takes the topmost word as a number; Infinity if it is 2^53 or more. */
  popNumber(): number {
    this.sp--
    return numberAt(this.stack, this.sp << 3)
  }

  popBig(): bigint {
    this.sp--
    return bigAt(this.wide, this.sp << 2)
  }

  /** Takes the topmost word and returns where its limbs are; valid until the next push. */
  popLimbs(): number {
    this.sp--
    return this.sp << 3
  }

  pushNumber(value: number): void {
    setNumber(this.stack, this.sp << 3, value)
    this.sp++
  }

  pushBig(value: bigint): void {
    setBig(this.wide, this.sp << 2, value)
    this.sp++
  }

  /** Pushes the 32 big-endian bytes at `at`. */
  pushBytes(bytes: Uint8Array, at: number): void {
    loadWord(this.stack, this.sp << 3, bytes, at)
    this.sp++
  }

  pushAddress(account: EvmAccount): void {
    const at = this.sp << 3
    this.stack.set(account.limbs, at)
    this.stack.fill(0, at + 5, at + 8)
    this.sp++
  }

  /** Charges for `size` bytes of memory at `offset` and expands it. False when out of gas. */
  expand(offset: number, size: number): boolean {
    if (size === 0) return true
    const end = offset + size
    if (end <= this.size) return true
    const words = Math.ceil(end / 32)
    const cost = 3 * words + Math.floor((words * words) / 512)
    this.gas -= cost - this.memoryCost
    if (this.gas < 0) return false
    this.memoryCost = cost
    this.#grow(words * 32)
    return true
  }

  #grow(size: number): void {
    if (size > MEMORY_LIMIT) throw new Exhausted('memory')
    if (size > this.memory.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.memory.length))
      larger.set(this.memory.subarray(0, this.size))
      this.memory = larger
    } else this.memory.fill(0, this.size, size)
    this.size = size
  }

  /** `size` bytes of memory as a view, which lasts until this depth runs again. */
  view(offset: number, size: number): Uint8Array {
    return size === 0 ? emptyBytes : this.memory.subarray(offset, offset + size)
  }

  /** Copies `size` bytes of `source` from `from` to memory at `to`, zeros where it has ended. */
  copyIn(source: Uint8Array, from: number, to: number, size: number): void {
    if (size === 0) return
    const available = Math.max(0, Math.min(size, source.length - from))
    if (available > 0) this.memory.set(source.subarray(from, from + available), to)
    if (available < size) this.memory.fill(0, to + available, to + size)
  }
}

/** The word at limb `at` as a number; Infinity if it is 2^53 or more. */
export function numberAt(stack: Uint32Array, at: number): number {
  const high =
    stack[at + 2]! |
    stack[at + 3]! |
    stack[at + 4]! |
    stack[at + 5]! |
    stack[at + 6]! |
    stack[at + 7]!
  if (high !== 0 || stack[at + 1]! > 0x1fffff) return Number.POSITIVE_INFINITY
  return stack[at + 1]! * 0x100000000 + stack[at]!
}

/** Sign of (word a - word b), both unsigned. */
export function compareWords(stack: Uint32Array, a: number, b: number): number {
  for (let i = 7; i >= 0; i--) {
    const x = stack[a + i]!
    const y = stack[b + i]!
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

export function setNumber(stack: Uint32Array, at: number, value: number): void {
  stack[at] = value
  stack[at + 1] = value / 0x100000000
  stack[at + 2] = 0
  stack[at + 3] = 0
  stack[at + 4] = 0
  stack[at + 5] = 0
  stack[at + 6] = 0
  stack[at + 7] = 0
}

/** The word whose four 64-bit limbs start at `at`. */
export function bigAt(wide: BigUint64Array, at: number): bigint {
  const b = wide[at + 1]!
  const c = wide[at + 2]!
  const d = wide[at + 3]!
  if ((b | c | d) === 0n) return wide[at]!
  return (((((d << 64n) | c) << 64n) | b) << 64n) | wide[at]!
}

export function setBig(wide: BigUint64Array, at: number, value: bigint): void {
  wide[at] = value
  wide[at + 1] = value >> 64n
  wide[at + 2] = value >> 128n
  wide[at + 3] = value >> 192n
}

/** Puts the 32 big-endian bytes at `from` on the stack. */
export function loadWord(stack: Uint32Array, at: number, bytes: Uint8Array, from: number): void {
  for (let limb = 0; limb < 8; limb++) {
    const i = from + 28 - 4 * limb
    stack[at + limb] =
      (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!
  }
}

/** Writes the stack word at limb `at` as 32 big-endian bytes. */
export function storeWord(stack: Uint32Array, at: number, bytes: Uint8Array, to: number): void {
  for (let limb = 0; limb < 8; limb++) {
    const word = stack[at + limb]!
    const i = to + 28 - 4 * limb
    bytes[i] = word >>> 24
    bytes[i + 1] = word >>> 16
    bytes[i + 2] = word >>> 8
    bytes[i + 3] = word
  }
}
