import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hex, runCode, word } from '../../../test/evm/harness.js'
import { toBigInt } from '../bytes/hex.js'

const LIMIT = 1n << 256n
function wrap(value: bigint) {
  return BigInt.asUintN(256, value)
}
function signed(value: bigint) {
  return BigInt.asIntN(256, value)
}
function bool(value: boolean) {
  return value ? 1n : 0n
}

/** What each instruction computes, in terms of bigint; operands from the top of the stack down. */
const REFERENCE: Record<string, [opcode: string, compute: (...words: bigint[]) => bigint]> = {
  ADD: ['01', (a, b) => wrap(a! + b!)],
  MUL: ['02', (a, b) => wrap(a! * b!)],
  SUB: ['03', (a, b) => wrap(a! - b!)],
  DIV: ['04', (a, b) => (b === 0n ? 0n : a! / b!)],
  SDIV: ['05', (a, b) => (b === 0n ? 0n : wrap(signed(a!) / signed(b!)))],
  MOD: ['06', (a, b) => (b === 0n ? 0n : a! % b!)],
  SMOD: ['07', (a, b) => (b === 0n ? 0n : wrap(signed(a!) % signed(b!)))],
  ADDMOD: ['08', (a, b, n) => (n === 0n ? 0n : (a! + b!) % n!)],
  MULMOD: ['09', (a, b, n) => (n === 0n ? 0n : (a! * b!) % n!)],
  SIGNEXTEND: ['0b', (k, a) => (k! < 31n ? wrap(BigInt.asIntN(8 * Number(k! + 1n), a!)) : a!)],
  LT: ['10', (a, b) => bool(a! < b!)],
  GT: ['11', (a, b) => bool(a! > b!)],
  SLT: ['12', (a, b) => bool(signed(a!) < signed(b!))],
  SGT: ['13', (a, b) => bool(signed(a!) > signed(b!))],
  EQ: ['14', (a, b) => bool(a === b)],
  ISZERO: ['15', (a) => bool(a === 0n)],
  AND: ['16', (a, b) => a! & b!],
  OR: ['17', (a, b) => a! | b!],
  XOR: ['18', (a, b) => a! ^ b!],
  NOT: ['19', (a) => LIMIT - 1n - a!],
  BYTE: ['1a', (i, a) => (i! < 32n ? (a! >> (8n * (31n - i!))) & 0xffn : 0n)],
  SHL: ['1b', (n, a) => (n! < 256n ? wrap(a! << n!) : 0n)],
  SHR: ['1c', (n, a) => (n! < 256n ? a! >> n! : 0n)],
  SAR: ['1d', (n, a) => wrap(signed(a!) >> (n! < 256n ? n! : 255n))],
  CLZ: ['1e', (a) => (a === 0n ? 256n : BigInt(256 - a!.toString(2).length))],
}

/** Words of every size, and those around the borders where limbs and signs change. */
const anyWord = fc.oneof(
  fc.bigInt({ min: 0n, max: LIMIT - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
  fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: -2, max: 2 }))
    .map(([bit, around]) => wrap((1n << BigInt(bit)) + BigInt(around))),
)

describe('arithmetic', () => {
  it.each(Object.entries(REFERENCE))('%s', (_, [opcode, compute]) => {
    const operands = Array.from({ length: compute.length }, () => anyWord)
    fc.assert(
      fc.property(fc.tuple(...operands), (words) => {
        const pushes = words.toReversed().map((value) => `7f${word(value).slice(2)}`)
        const { output } = runCode(hex(...pushes, opcode, '5f5260205ff3'))
        expect(toBigInt(output)).toBe(compute(...words))
      }),
      { seed: 4, numRuns: 300 },
    )
  })

  it('EXP', () => {
    fc.assert(
      fc.property(anyWord, fc.integer({ min: 0, max: 300 }), (base, exponent) => {
        const pushes = [exponent, base].map((value) => `7f${word(value).slice(2)}`)
        const { output, executionGas } = runCode(hex(...pushes, '0a5f5260205ff3'))
        expect(toBigInt(output)).toBe(wrap(base ** BigInt(exponent)))
        const bytes = exponent === 0 ? 0 : exponent < 256 ? 1 : 2
        expect(executionGas).toBe(6 + 10 + 50 * bytes + 13)
      }),
      { seed: 4, numRuns: 100 },
    )
  })
})
