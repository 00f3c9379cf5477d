import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { CONTINUE, INVALID_OPCODE, type Signal, STACK_UNDERFLOW } from '../machine/signal.js'

const DUPN = 0xe6
const EXCHANGE = 0xe8

/** DUPN, SWAPN and EXCHANGE (EIP-8024): the byte after the opcode says how deep. */
export function deepStack(_: Machine, frame: Frame, op: number): Signal {
  const immediate = frame.code.padded[frame.pc]!
  // JUMPDEST and PUSH stay what they are in the analysis of jumps.
  if (immediate < 0x80 && immediate > (op === EXCHANGE ? 0x51 : 0x5a)) return INVALID_OPCODE
  const [upper, lower] = op === EXCHANGE ? pairOf(immediate) : [0, (immediate + 145) & 0xff]
  const deepest = op === DUPN ? lower : lower + 1
  if (frame.sp < deepest) return STACK_UNDERFLOW
  frame.pc++
  if (op === DUPN) {
    const from = (frame.sp - lower) << 3
    frame.stack.copyWithin(frame.sp << 3, from, from + 8)
    frame.sp++
    return CONTINUE
  }
  const [a, b] = [upper, lower].map((depth) => (frame.sp - 1 - depth) << 3) as [number, number]
  const kept = frame.stack.slice(a, a + 8)
  frame.stack.copyWithin(a, b, b + 8)
  frame.stack.set(kept, b)
  return CONTINUE
}

/** The two depths below the topmost word that EXCHANGE means. */
function pairOf(immediate: number): [upper: number, lower: number] {
  const index = immediate ^ 0x8f
  const [row, column] = [index >> 4, index & 15]
  return row < column ? [row + 1, column + 1] : [column + 1, 29 - row]
}
