import {
  bigAt,
  compareWords,
  type Frame,
  loadWord,
  numberAt,
  STACK_LIMIT,
  setBig,
  setNumber,
  storeWord,
} from './frame.js'
import type { Machine } from './machine.js'
import { noteOpcode } from './record.js'
import {
  CONTINUE,
  Exhausted,
  INVALID_JUMP,
  INVALID_OPCODE,
  OUT_OF_GAS,
  RETURN,
  type Signal,
  STACK_OVERFLOW,
  STACK_UNDERFLOW,
} from './signal.js'

/**
 * Runs `frame` until it ends or calls. The instructions that make up nearly all steps are here,
 * on local variables; every other one is a function in the fork's table. Keep this function
 * small: V8 needs long to optimise a large one, and one surprise throws the work away.
 */
export function execute(machine: Machine, frame: Frame): Signal {
  const stack = frame.stack
  const wide = frame.wide
  const code = frame.code.padded
  const { gas: costs, least, most, handlers } = machine.table
  let { pc, sp, gas, memory } = frame
  let steps = 0
  let allowed = machine.stepsLeft
  for (;;) {
    const op = code[pc]!
    if (++steps > allowed) throw new Exhausted('steps')
    if (sp < least[op]! || sp > most[op]!) {
      machine.stepsLeft = allowed - steps
      return stackFault(machine, frame, op, sp)
    }
    gas -= costs[op]!
    if (gas < 0) {
      machine.stepsLeft = allowed - steps
      if (frame.record !== undefined) noteOpcode(frame.record, op)
      return OUT_OF_GAS
    }
    if (op >= 0x5f && op <= 0x7f) {
      const at = sp << 3
      pushData(stack, at, code, pc, op - 0x5f)
      sp++
      pc += op - 0x5e
      continue
    }
    if (op >= 0x80 && op <= 0x8f) {
      const from = (sp - op + 0x7f) << 3
      const to = sp << 3
      stack[to] = stack[from]!
      stack[to + 1] = stack[from + 1]!
      stack[to + 2] = stack[from + 2]!
      stack[to + 3] = stack[from + 3]!
      stack[to + 4] = stack[from + 4]!
      stack[to + 5] = stack[from + 5]!
      stack[to + 6] = stack[from + 6]!
      stack[to + 7] = stack[from + 7]!
      sp++
      pc++
      continue
    }
    if (op >= 0x90 && op <= 0x9f) {
      swap(stack, (sp - op + 0x8e) << 3, (sp - 1) << 3)
      pc++
      continue
    }
    const a = (sp - 1) << 3
    const b = (sp - 2) << 3
    switch (op) {
      case 0x00: // STOP
        frame.gas = gas
        machine.stepsLeft = allowed - steps
        return RETURN
      case 0x01: // ADD
        add(stack, a, b)
        sp--
        break
      case 0x02: {
        // MUL
        const product = numberAt(stack, a) * numberAt(stack, b)
        if (product <= Number.MAX_SAFE_INTEGER) setNumber(stack, b, product)
        else setBig(wide, b >> 1, bigAt(wide, a >> 1) * bigAt(wide, b >> 1))
        sp--
        break
      }
      case 0x03: // SUB
        subtract(stack, a, b)
        sp--
        break
      case 0x10: // LT
        setNumber(stack, b, compareWords(stack, a, b) < 0 ? 1 : 0)
        sp--
        break
      case 0x11: // GT
        setNumber(stack, b, compareWords(stack, a, b) > 0 ? 1 : 0)
        sp--
        break
      case 0x14: // EQ
        setNumber(stack, b, compareWords(stack, a, b) === 0 ? 1 : 0)
        sp--
        break
      case 0x15: // ISZERO
        setNumber(stack, a, isZero(stack, a) ? 1 : 0)
        break
      case 0x16: // AND
        for (let i = 0; i < 8; i++) stack[b + i]! &= stack[a + i]!
        sp--
        break
      case 0x17: // OR
        for (let i = 0; i < 8; i++) stack[b + i]! |= stack[a + i]!
        sp--
        break
      case 0x18: // XOR
        for (let i = 0; i < 8; i++) stack[b + i]! ^= stack[a + i]!
        sp--
        break
      case 0x19: // NOT
        for (let i = 0; i < 8; i++) stack[a + i] = ~stack[a + i]!
        break
      case 0x1b: // SHL
        shiftLeft(stack, b, numberAt(stack, a))
        sp--
        break
      case 0x1c: // SHR
        shiftRight(stack, b, numberAt(stack, a))
        sp--
        break
      case 0x35: {
        // CALLDATALOAD
        const from = numberAt(stack, a)
        if (from + 32 <= frame.input.length) loadWord(stack, a, frame.input, from)
        else loadPartial(stack, a, frame.input, from)
        break
      }
      case 0x50: // POP
        sp--
        break
      case 0x51: {
        // MLOAD
        const at = numberAt(stack, a)
        if (at + 32 > frame.size) {
          frame.gas = gas
          if (!frame.expand(at, 32)) {
            machine.stepsLeft = allowed - steps
            return OUT_OF_GAS
          }
          gas = frame.gas
          memory = frame.memory
        }
        loadWord(stack, a, memory, at)
        break
      }
      case 0x52: {
        // MSTORE
        const at = numberAt(stack, a)
        if (at + 32 > frame.size) {
          frame.gas = gas
          if (!frame.expand(at, 32)) {
            machine.stepsLeft = allowed - steps
            return OUT_OF_GAS
          }
          gas = frame.gas
          memory = frame.memory
        }
        storeWord(stack, b, memory, at)
        sp -= 2
        break
      }
      case 0x56: {
        // JUMP
        const to = numberAt(stack, a)
        if (to >= code.length || frame.code.jumps[to] !== 1) {
          machine.stepsLeft = allowed - steps
          return INVALID_JUMP
        }
        sp--
        pc = to
        continue
      }
      case 0x57: {
        // JUMPI
        sp -= 2
        if (isZero(stack, b)) break
        const to = numberAt(stack, a)
        if (to >= code.length || frame.code.jumps[to] !== 1) {
          machine.stepsLeft = allowed - steps
          return INVALID_JUMP
        }
        pc = to
        continue
      }
      case 0x5b: // JUMPDEST
        break
      default: {
        frame.pc = pc + 1
        frame.sp = sp
        frame.gas = gas
        machine.stepsLeft = allowed - steps
        if (frame.record !== undefined) noteUse(frame, op)
        const signal = handlers[op]!(machine, frame, op)
        if (signal !== CONTINUE) return signal
        sp = frame.sp
        gas = frame.gas
        memory = frame.memory
        allowed = machine.stepsLeft
        steps = 0
        pc = frame.pc
        continue
      }
    }
    pc++
  }
}

const GAS = 0x5a

/** GAS counts as used only when no CALL, CALLCODE, DELEGATECALL or STATICCALL follows (OP-012). */
function noteUse(frame: Frame, op: number): void {
  if (op === GAS) {
    const next = frame.code.padded[frame.pc]!
    if (next === 0xf1 || next === 0xf2 || next === 0xf4 || next === 0xfa) return
  }
  noteOpcode(frame.record!, op)
}

function stackFault(machine: Machine, frame: Frame, op: number, sp: number): Signal {
  if (frame.record !== undefined) noteOpcode(frame.record, op)
  const { least, most } = machine.table
  if (least[op]! > STACK_LIMIT) return INVALID_OPCODE
  return sp > most[op]! ? STACK_OVERFLOW : STACK_UNDERFLOW
}

/** Puts the `size` bytes after the instruction at `pc` on the stack. */
function pushData(
  stack: Uint32Array,
  at: number,
  code: Uint8Array,
  pc: number,
  size: number,
): void {
  stack[at] = 0
  stack[at + 1] = 0
  stack[at + 2] = 0
  stack[at + 3] = 0
  stack[at + 4] = 0
  stack[at + 5] = 0
  stack[at + 6] = 0
  stack[at + 7] = 0
  if (size <= 4) {
    let value = 0
    for (let i = 1; i <= size; i++) value = (value << 8) | code[pc + i]!
    stack[at] = value
    return
  }
  const last = pc + size
  for (let i = 0; i < size; i++) stack[at + (i >> 2)]! |= code[last - i]! << ((i & 3) << 3)
}

function swap(stack: Uint32Array, a: number, b: number): void {
  for (let i = 0; i < 8; i++) {
    const held = stack[a + i]!
    stack[a + i] = stack[b + i]!
    stack[b + i] = held
  }
}

/** word b = word a + word b */
function add(stack: Uint32Array, a: number, b: number): void {
  let carry = 0
  for (let i = 0; i < 8; i++) {
    const sum = stack[a + i]! + stack[b + i]! + carry
    stack[b + i] = sum
    carry = sum > 0xffffffff ? 1 : 0
  }
}

/** word b = word a - word b */
function subtract(stack: Uint32Array, a: number, b: number): void {
  let borrow = 0
  for (let i = 0; i < 8; i++) {
    const difference = stack[a + i]! - stack[b + i]! - borrow
    stack[b + i] = difference
    borrow = difference < 0 ? 1 : 0
  }
}

function isZero(stack: Uint32Array, at: number): boolean {
  return (
    (stack[at]! |
      stack[at + 1]! |
      stack[at + 2]! |
      stack[at + 3]! |
      stack[at + 4]! |
      stack[at + 5]! |
      stack[at + 6]! |
      stack[at + 7]!) ===
    0
  )
}

function shiftLeft(stack: Uint32Array, at: number, bits: number): void {
  if (bits >= 256) {
    setNumber(stack, at, 0)
    return
  }
  const limbs = bits >>> 5
  const rest = bits & 31
  for (let i = 7; i >= 0; i--) {
    const high = i >= limbs ? stack[at + i - limbs]! : 0
    const low = i > limbs ? stack[at + i - limbs - 1]! : 0
    stack[at + i] = rest === 0 ? high : (high << rest) | (low >>> (32 - rest))
  }
}

function shiftRight(stack: Uint32Array, at: number, bits: number): void {
  if (bits >= 256) {
    setNumber(stack, at, 0)
    return
  }
  const limbs = bits >>> 5
  const rest = bits & 31
  for (let i = 0; i < 8; i++) {
    const low = i + limbs < 8 ? stack[at + i + limbs]! : 0
    const high = i + limbs < 7 ? stack[at + i + limbs + 1]! : 0
    stack[at + i] = rest === 0 ? low : (low >>> rest) | (high << (32 - rest))
  }
}

/** A word of calldata that reaches past its end, which reads as zeros. */
function loadPartial(stack: Uint32Array, at: number, input: Uint8Array, from: number): void {
  const word = new Uint8Array(32)
  if (from < input.length) word.set(input.subarray(from))
  loadWord(stack, at, word, 0)
}
