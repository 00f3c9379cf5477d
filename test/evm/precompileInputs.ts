import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bn254 } from '@noble/curves/bn254.js'
import { p256 } from '@noble/curves/nist.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { toBytes } from '../../src/evm/bytes/hex.js'
import { keccak } from '../../src/evm/index.js'
import { createRandom, type Random } from './random.js'
import type { PrecompileInput } from './randomProgram.js'

export type PrecompileInputs = { calldata: Uint8Array; inputs: PrecompileInput[] }

const made = new Map<number, PrecompileInputs>()

/** One calldata with a valid input for every precompile, and where each begins; made once a seed. */
export function precompileInputs(seed: number): PrecompileInputs {
  let inputs = made.get(seed)
  if (inputs === undefined) {
    inputs = make(createRandom(seed))
    made.set(seed, inputs)
  }
  return inputs
}

function make(random: Random): PrecompileInputs {
  const parts: [number, Uint8Array][] = [
    [0x01, ecrecoverInput(random)],
    [0x02, random.bytes(random.below(150))],
    [0x03, random.bytes(random.below(150))],
    [0x04, random.bytes(random.below(150))],
    [0x05, modexpInput(random)],
    [0x05, modexpInput(random)],
    [0x06, join([bnG1(random), bnG1(random)])],
    [0x07, join([bnG1(random), random.bytes(32)])],
    [0x08, join([bnG1(random), bnG2(random)])],
    [0x09, blakeInput(random)],
    [0x0b, join([blsG1(random), blsG1(random)])],
    [0x0c, join([blsG1(random), random.bytes(32), blsG1(random), random.bytes(32)])],
    [0x0d, join([blsG2(random), blsG2(random)])],
    [0x0e, join([blsG2(random), random.bytes(32)])],
    [0x0f, join([blsG1(random), blsG2(random)])],
    [0x10, field(random)],
    [0x11, join([field(random), field(random)])],
    [0x100, p256Input(random)],
  ]
  const inputs: PrecompileInput[] = []
  let at = 0
  for (const [precompile, bytes] of parts) {
    inputs.push({ precompile, at, size: bytes.length })
    at += bytes.length
  }
  return { calldata: join(parts.map(([, bytes]) => bytes)), inputs }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

function scalar(random: Random): bigint {
  return 1n + BigInt(random.below(2 ** 31))
}

function secretKey(random: Random): Uint8Array {
  return toBytes(scalar(random), 32)
}

function ecrecoverInput(random: Random): Uint8Array {
  const hash = keccak(random.bytes(8))
  const signature = secp256k1.sign(hash, secretKey(random), { prehash: false, format: 'recovered' })
  const v = new Uint8Array(32)
  v[31] = 27 + signature[0]!
  return join([hash, v, signature.subarray(1)])
}

function p256Input(random: Random): Uint8Array {
  const key = secretKey(random)
  const hash = keccak(random.bytes(8))
  const signature = p256.sign(hash, key, { prehash: false, lowS: false })
  return join([hash, signature, p256.getPublicKey(key, false).subarray(1)])
}

function modexpInput(random: Random): Uint8Array {
  const sizes = [random.below(70), random.below(40), random.below(70)]
  return join([
    ...sizes.map((size) => toBytes(BigInt(size), 32)),
    ...sizes.map((n) => random.bytes(n)),
  ])
}

function blakeInput(random: Random): Uint8Array {
  const rounds = toBytes(BigInt(random.below(200)), 4)
  return join([rounds, random.bytes(208), Uint8Array.of(random.below(2))])
}

function bnG1(random: Random): Uint8Array {
  const { x, y } = bn254.G1.Point.BASE.multiply(scalar(random)).toAffine()
  return join([toBytes(x, 32), toBytes(y, 32)])
}

function bnG2(random: Random): Uint8Array {
  const { x, y } = bn254.G2.Point.BASE.multiply(scalar(random)).toAffine()
  return join([x.c1, x.c0, y.c1, y.c0].map((part) => toBytes(part, 32)))
}

function blsG1(random: Random): Uint8Array {
  const { x, y } = bls12_381.G1.Point.BASE.multiply(scalar(random)).toAffine()
  return join([toBytes(x, 64), toBytes(y, 64)])
}

function blsG2(random: Random): Uint8Array {
  const { x, y } = bls12_381.G2.Point.BASE.multiply(scalar(random)).toAffine()
  return join([x.c0, x.c1, y.c0, y.c1].map((part) => toBytes(part, 64)))
}

function field(random: Random): Uint8Array {
  return toBytes(BigInt(random.below(2 ** 48)) ** 7n, 64)
}
