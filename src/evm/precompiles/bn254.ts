import { bn254 } from '@noble/curves/bn254.js'
import { toBigInt, toBytes } from '../bytes/hex.js'
import { bytesAt, type Precompile } from './precompile.js'

const { G1, G2, fields, pairingBatch } = bn254
const { Fp, Fp12, Fr } = fields
type PointG1 = typeof G1.Point.BASE
type PointG2 = typeof G2.Point.BASE

const PAIR = 192

/** 0x06 (EIP-196, EIP-1108): sum of two points. */
export const bn254Add: Precompile = {
  gas: () => 150,
  stepsPerGas: 10,
  run: (input) => {
    const a = pointG1(bytesAt(input, 0, 64))
    const b = pointG1(bytesAt(input, 64, 64))
    return a && b && encode(a.add(b))
  },
}

/** 0x07 (EIP-196, EIP-1108): a point times a scalar. */
export const bn254Multiply: Precompile = {
  gas: () => 6000,
  stepsPerGas: 19,
  run: (input) => {
    const point = pointG1(bytesAt(input, 0, 64))
    const scalar = toBigInt(bytesAt(input, 64, 32))
    return point && encode(point.multiplyUnsafe(Fr.create(scalar)))
  },
}

/** 0x08 (EIP-197, EIP-1108): whether a product of pairings is one. */
export const bn254Pairing: Precompile = {
  gas: (input) => 45_000 + 34_000 * Math.floor(input.length / PAIR),
  stepsPerGas: 10,
  run: (input) => {
    if (input.length % PAIR !== 0) return undefined
    const pairs: { g1: PointG1; g2: PointG2 }[] = []
    for (let at = 0; at < input.length; at += PAIR) {
      const g1 = pointG1(input.subarray(at, at + 64))
      const g2 = pointG2(input.subarray(at + 64, at + PAIR))
      if (g1 === undefined || g2 === undefined) return undefined
      if (!g1.is0() && !g2.is0()) pairs.push({ g1, g2 })
    }
    return toBytes(Fp12.eql(pairingBatch(pairs), Fp12.ONE) ? 1n : 0n, 32)
  },
}

/** A coordinate, which must be below the field's order. */
function coordinate(bytes: Uint8Array): bigint | undefined {
  const value = toBigInt(bytes)
  return value < Fp.ORDER ? value : undefined
}

function pointG1(bytes: Uint8Array): PointG1 | undefined {
  const x = coordinate(bytes.subarray(0, 32))
  const y = coordinate(bytes.subarray(32, 64))
  if (x === undefined || y === undefined) return undefined
  if (x === 0n && y === 0n) return G1.Point.ZERO
  return checked(() => G1.Point.fromAffine({ x, y }))
}

/** A point of the twist; each coordinate has its imaginary part first. */
function pointG2(bytes: Uint8Array): PointG2 | undefined {
  const [xi, xr, yi, yr] = [0, 32, 64, 96].map((at) => coordinate(bytes.subarray(at, at + 32)))
  if (xi === undefined || xr === undefined || yi === undefined || yr === undefined) return undefined
  if (xi === 0n && xr === 0n && yi === 0n && yr === 0n) return G2.Point.ZERO
  return checked(() => G2.Point.fromAffine({ x: { c0: xr, c1: xi }, y: { c0: yr, c1: yi } }))
}

/** The point, if it is on the curve and in the right subgroup. */
function checked<P extends { assertValidity(): void }>(make: () => P): P | undefined {
  try {
    const point = make()
    point.assertValidity()
    return point
  } catch {
    return undefined
  }
}

function encode(point: PointG1): Uint8Array {
  const output = new Uint8Array(64)
  if (point.is0()) return output
  const { x, y } = point.toAffine()
  output.set(toBytes(x, 32))
  output.set(toBytes(y, 32), 32)
  return output
}
