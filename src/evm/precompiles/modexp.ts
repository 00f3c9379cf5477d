import { toBigInt, toBytes } from '../bytes/hex.js'
import { bytesAt, type Precompile } from './precompile.js'

type Lengths = { base: bigint; exponent: bigint; modulus: bigint }

const HEAD = 96

/** 0x05 with the prices of EIP-2565 (Berlin to Prague). */
export const modexp: Precompile = {
  stepsPerGas: 8,
  gas: (input) => {
    const lengths = lengthsOf(input)
    const words = ceilDivide(longer(lengths), 8n)
    const price = (words * words * iterations(lengths, input, 8n)) / 3n
    return Math.max(200, Number(price))
  },
  run,
}

/** 0x05 with the prices of EIP-7883 and the length limit of EIP-7823 (Osaka). */
export const modexpOsaka: Precompile = {
  stepsPerGas: 3,
  gas: (input) => {
    const lengths = lengthsOf(input)
    const size = longer(lengths)
    const words = ceilDivide(size, 8n)
    const complexity = size <= 32n ? 16n : 2n * words * words
    return Math.max(500, Number(complexity * iterations(lengths, input, 16n)))
  },
  run: (input) => {
    const { base, exponent, modulus } = lengthsOf(input)
    return base > LIMIT || exponent > LIMIT || modulus > LIMIT ? undefined : run(input)
  },
}

const LIMIT = 1024n

function lengthsOf(input: Uint8Array): Lengths {
  const at = (from: number) => toBigInt(bytesAt(input, from, 32))
  return { base: at(0), exponent: at(32), modulus: at(64) }
}

function longer({ base, modulus }: Lengths): bigint {
  return base > modulus ? base : modulus
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

/** Squarings the exponent needs, computed from its first 32 bytes; each byte after them counts `perByte`. */
function iterations({ base, exponent }: Lengths, input: Uint8Array, perByte: bigint): bigint {
  const headSize = exponent < 32n ? Number(exponent) : 32
  const from = HEAD + Number(base)
  const head = from < input.length ? toBigInt(bytesAt(input, from, headSize)) : 0n
  const bits = head === 0n ? 0n : BigInt(head.toString(2).length - 1)
  const count = exponent > 32n ? perByte * (exponent - 32n) + bits : bits
  return count > 1n ? count : 1n
}

function run(input: Uint8Array): Uint8Array {
  const lengths = lengthsOf(input)
  if (lengths.base === 0n && lengths.modulus === 0n) return new Uint8Array(0)
  const [baseSize, exponentSize] = [Number(lengths.base), Number(lengths.exponent)]
  const modulusSize = Number(lengths.modulus)
  const base = toBigInt(bytesAt(input, HEAD, baseSize))
  const exponent = toBigInt(bytesAt(input, HEAD + baseSize, exponentSize))
  const modulus = toBigInt(bytesAt(input, HEAD + baseSize + exponentSize, modulusSize))
  return toBytes(modulus === 0n ? 0n : power(base, exponent, modulus), modulusSize)
}

/** base ** exponent modulo modulus, by squaring from the exponent's highest bit. */
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  const factor = base % modulus
  let result = 1n % modulus
  for (const bit of exponent.toString(2)) {
    result = (result * result) % modulus
    if (bit === '1') result = (result * factor) % modulus
  }
  return result
}
