import { compareWords, type Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { CONTINUE, OUT_OF_GAS, type Signal } from '../machine/signal.js'

const WORD = 256

function popSigned(frame: Frame): bigint {
  return BigInt.asIntN(WORD, frame.popBig())
}

export function divide(_: Machine, frame: Frame): Signal {
  const dividend = frame.popNumber()
  const divisor = frame.popNumber()
  if (dividend !== Number.POSITIVE_INFINITY && divisor !== Number.POSITIVE_INFINITY) {
    frame.pushNumber(divisor === 0 ? 0 : Math.floor(dividend / divisor))
    return CONTINUE
  }
  frame.sp += 2
  const wideDividend = frame.popBig()
  const wideDivisor = frame.popBig()
  frame.pushBig(wideDivisor === 0n ? 0n : wideDividend / wideDivisor)
  return CONTINUE
}

export function modulo(_: Machine, frame: Frame): Signal {
  const dividend = frame.popBig()
  const divisor = frame.popBig()
  frame.pushBig(divisor === 0n ? 0n : dividend % divisor)
  return CONTINUE
}

export function signedDivide(_: Machine, frame: Frame): Signal {
  const dividend = popSigned(frame)
  const divisor = popSigned(frame)
  frame.pushBig(divisor === 0n ? 0n : dividend / divisor)
  return CONTINUE
}

export function signedModulo(_: Machine, frame: Frame): Signal {
  const dividend = popSigned(frame)
  const divisor = popSigned(frame)
  frame.pushBig(divisor === 0n ? 0n : dividend % divisor)
  return CONTINUE
}

export function addmod(_: Machine, frame: Frame): Signal {
  const a = frame.popBig()
  const b = frame.popBig()
  const modulus = frame.popBig()
  frame.pushBig(modulus === 0n ? 0n : (a + b) % modulus)
  return CONTINUE
}

export function mulmod(_: Machine, frame: Frame): Signal {
  const a = frame.popBig()
  const b = frame.popBig()
  const modulus = frame.popBig()
  frame.pushBig(modulus === 0n ? 0n : (a * b) % modulus)
  return CONTINUE
}

/** Steps that one byte of an exponent counts for, from the time it takes. */
const STEPS_PER_EXPONENT_BYTE = 40

export function exponentiate(machine: Machine, frame: Frame): Signal {
  const base = frame.popBig()
  const exponent = frame.popBig()
  const bytes = exponent === 0n ? 0 : Math.ceil(exponent.toString(16).length / 2)
  frame.gas -= 50 * bytes
  if (frame.gas < 0) return OUT_OF_GAS
  machine.stepsLeft -= STEPS_PER_EXPONENT_BYTE * bytes
  frame.pushBig(power(base, exponent))
  return CONTINUE
}

/** base ** exponent modulo 2^256, by squaring. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  let square = base
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = BigInt.asUintN(WORD, result * square)
    square = BigInt.asUintN(WORD, square * square)
  }
  return result
}

export function signExtend(_: Machine, frame: Frame): Signal {
  const byteIndex = frame.popNumber()
  const value = frame.popBig()
  frame.pushBig(byteIndex < 31 ? BigInt.asIntN(8 * (byteIndex + 1), value) : value)
  return CONTINUE
}

/** SLT and SGT. */
export function signedCompare(_: Machine, frame: Frame, op: number): Signal {
  const { stack } = frame
  const a = frame.popLimbs()
  const b = frame.popLimbs()
  const less = op === 0x12 ? a : b
  const more = op === 0x12 ? b : a
  const sign = stack[less + 7]! >>> 31
  const otherSign = stack[more + 7]! >>> 31
  // Words of the same sign are in the order of their bits.
  const holds = sign === otherSign ? compareWords(stack, less, more) < 0 : sign > otherSign
  frame.pushNumber(holds ? 1 : 0)
  return CONTINUE
}

export function byte(_: Machine, frame: Frame): Signal {
  const index = frame.popNumber()
  const at = frame.popLimbs()
  const limb = index < 32 ? frame.stack[at + 7 - (index >> 2)]! : 0
  frame.pushNumber((limb >>> (8 * (3 - (index & 3)))) & 0xff)
  return CONTINUE
}

export function sar(_: Machine, frame: Frame): Signal {
  const bits = frame.popNumber()
  const value = popSigned(frame)
  frame.pushBig(bits < WORD ? value >> BigInt(bits) : value < 0n ? -1n : 0n)
  return CONTINUE
}

/** EIP-7939: number of leading zero bits. */
export function clz(_: Machine, frame: Frame): Signal {
  const at = frame.popLimbs()
  let zeros = 0
  for (let limb = 7; limb >= 0; limb--) {
    const leading = Math.clz32(frame.stack[at + limb]!)
    zeros += leading
    if (leading < 32) break
  }
  frame.pushNumber(zeros)
  return CONTINUE
}
