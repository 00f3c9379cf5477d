import { pippenger } from '@noble/curves/abstract/curve.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { toBigInt, toBytes } from '../bytes/hex.js'
import { isZero, type Precompile } from './precompile.js'

const { G1, G2, fields, pairingBatch } = bls12_381
const { Fp, Fp2, Fp12, Fr } = fields
type PointG1 = typeof G1.Point.BASE
type PointG2 = typeof G2.Point.BASE

// noble declares the raw map's type here, but clears the cofactor and returns a point.
const mapToG1 = G1.mapToCurve as unknown as (u: bigint) => PointG1
const mapToG2 = G2.mapToCurve as unknown as (u: [bigint, bigint]) => PointG2

const FIELD = 64
const POINT_G1 = 2 * FIELD
const POINT_G2 = 4 * FIELD
const SCALAR = 32
const TERM_G1 = POINT_G1 + SCALAR
const TERM_G2 = POINT_G2 + SCALAR
const PAIR = POINT_G1 + POINT_G2

/** 0x0b (EIP-2537; all of this file). Addition does not ask for the subgroup. */
export const blsG1Add: Precompile = {
  gas: () => 375,
  stepsPerGas: 10,
  run: (input) => {
    if (input.length !== 2 * POINT_G1) return undefined
    const a = pointG1(input.subarray(0, POINT_G1))
    const b = pointG1(input.subarray(POINT_G1))
    return a && b && encodeG1(a.add(b))
  },
}

/** 0x0c: sum of points times scalars. */
export const blsG1Msm: Precompile = {
  gas: (input) => msmGas(Math.floor(input.length / TERM_G1), 12_000, discountG1),
  stepsPerGas: 15,
  run: (input) => {
    if (input.length === 0 || input.length % TERM_G1 !== 0) return undefined
    const points: PointG1[] = []
    const scalars: bigint[] = []
    for (let at = 0; at < input.length; at += TERM_G1) {
      const point = inSubgroup(pointG1(input.subarray(at, at + POINT_G1)))
      if (point === undefined) return undefined
      points.push(point)
      scalars.push(scalar(input.subarray(at + POINT_G1, at + TERM_G1)))
    }
    return encodeG1(pippenger(G1.Point, points, scalars))
  },
}

/** 0x0d */
export const blsG2Add: Precompile = {
  gas: () => 600,
  stepsPerGas: 15,
  run: (input) => {
    if (input.length !== 2 * POINT_G2) return undefined
    const a = pointG2(input.subarray(0, POINT_G2))
    const b = pointG2(input.subarray(POINT_G2))
    return a && b && encodeG2(a.add(b))
  },
}

/** 0x0e */
export const blsG2Msm: Precompile = {
  gas: (input) => msmGas(Math.floor(input.length / TERM_G2), 22_500, discountG2),
  stepsPerGas: 25,
  run: (input) => {
    if (input.length === 0 || input.length % TERM_G2 !== 0) return undefined
    const points: PointG2[] = []
    const scalars: bigint[] = []
    for (let at = 0; at < input.length; at += TERM_G2) {
      const point = inSubgroup(pointG2(input.subarray(at, at + POINT_G2)))
      if (point === undefined) return undefined
      points.push(point)
      scalars.push(scalar(input.subarray(at + POINT_G2, at + TERM_G2)))
    }
    return encodeG2(pippenger(G2.Point, points, scalars))
  },
}

/** 0x0f: whether a product of pairings is one. */
export const blsPairing: Precompile = {
  gas: (input) => 37_700 + 32_600 * Math.floor(input.length / PAIR),
  stepsPerGas: 20,
  run: (input) => {
    if (input.length === 0 || input.length % PAIR !== 0) return undefined
    const pairs: { g1: PointG1; g2: PointG2 }[] = []
    for (let at = 0; at < input.length; at += PAIR) {
      const g1 = inSubgroup(pointG1(input.subarray(at, at + POINT_G1)))
      const g2 = inSubgroup(pointG2(input.subarray(at + POINT_G1, at + PAIR)))
      if (g1 === undefined || g2 === undefined) return undefined
      if (!g1.is0() && !g2.is0()) pairs.push({ g1, g2 })
    }
    return toBytes(Fp12.eql(pairingBatch(pairs), Fp12.ONE) ? 1n : 0n, 32)
  },
}

/** 0x10: a field element as a point of G1. */
export const blsMapFpToG1: Precompile = {
  gas: () => 5500,
  stepsPerGas: 15,
  run: (input) => {
    const u = input.length === FIELD ? fieldElement(input) : undefined
    return u === undefined ? undefined : encodeG1(mapToG1(u))
  },
}

/** 0x11: a field element pair as a point of G2. */
export const blsMapFp2ToG2: Precompile = {
  gas: () => 23_800,
  stepsPerGas: 15,
  run: (input) => {
    if (input.length !== 2 * FIELD) return undefined
    const c0 = fieldElement(input.subarray(0, FIELD))
    const c1 = fieldElement(input.subarray(FIELD))
    return c0 === undefined || c1 === undefined ? undefined : encodeG2(mapToG2([c0, c1]))
  },
}

function msmGas(terms: number, perTerm: number, discounts: readonly number[]): number {
  const discount = discounts[Math.min(terms, discounts.length) - 1] ?? 0
  return Math.floor((terms * perTerm * discount) / 1000)
}

/** A 64-byte field element: 16 zero bytes, then a number below the field's order. */
function fieldElement(bytes: Uint8Array): bigint | undefined {
  if (!isZero(bytes.subarray(0, 16))) return undefined
  const value = toBigInt(bytes.subarray(16))
  return value < Fp.ORDER ? value : undefined
}

function scalar(bytes: Uint8Array): bigint {
  return Fr.create(toBigInt(bytes))
}

/** A point of the curve, not necessarily of the subgroup. */
function pointG1(bytes: Uint8Array): PointG1 | undefined {
  const x = fieldElement(bytes.subarray(0, FIELD))
  const y = fieldElement(bytes.subarray(FIELD))
  if (x === undefined || y === undefined) return undefined
  if (x === 0n && y === 0n) return G1.Point.ZERO
  const onCurve = Fp.eql(Fp.sqr(y), Fp.add(Fp.mul(Fp.sqr(x), x), 4n))
  return onCurve ? G1.Point.fromAffine({ x, y }) : undefined
}

function pointG2(bytes: Uint8Array): PointG2 | undefined {
  const [xr, xi, yr, yi] = [0, 1, 2, 3].map((i) =>
    fieldElement(bytes.subarray(i * FIELD, (i + 1) * FIELD)),
  )
  if (xr === undefined || xi === undefined || yr === undefined || yi === undefined) return undefined
  if (xr === 0n && xi === 0n && yr === 0n && yi === 0n) return G2.Point.ZERO
  const x = { c0: xr, c1: xi }
  const y = { c0: yr, c1: yi }
  const right = Fp2.add(Fp2.mul(Fp2.sqr(x), x), { c0: 4n, c1: 4n })
  return Fp2.eql(Fp2.sqr(y), right) ? G2.Point.fromAffine({ x, y }) : undefined
}

/** The point, if it is of the subgroup; the point at infinity is. */
function inSubgroup<P extends { is0(): boolean; isTorsionFree(): boolean }>(
  point: P | undefined,
): P | undefined {
  return point?.is0() || point?.isTorsionFree() ? point : undefined
}

function encodeG1(point: PointG1): Uint8Array {
  if (point.is0()) return new Uint8Array(POINT_G1)
  const { x, y } = point.toAffine()
  return encodeFields([x, y])
}

function encodeG2(point: PointG2): Uint8Array {
  if (point.is0()) return new Uint8Array(POINT_G2)
  const { x, y } = point.toAffine()
  return encodeFields([x.c0, x.c1, y.c0, y.c1])
}

function encodeFields(elements: readonly bigint[]): Uint8Array {
  const output = new Uint8Array(elements.length * FIELD)
  for (const [i, element] of elements.entries()) output.set(toBytes(element, FIELD), i * FIELD)
  return output
}

/** EIP-2537: price of a multi-scalar multiplication of k terms, in thousandths of k single ones. */
const discountG1: readonly number[] = [
  1000, 949, 848, 797, 764, 750, 738, 728, 719, 712, 705, 698, 692, 687, 682, 677, 673, 669, 665,
  661, 658, 654, 651, 648, 645, 642, 640, 637, 635, 632, 630, 627, 625, 623, 621, 619, 617, 615,
  613, 611, 609, 608, 606, 604, 603, 601, 599, 598, 596, 595, 593, 592, 591, 589, 588, 586, 585,
  584, 582, 581, 580, 579, 577, 576, 575, 574, 573, 572, 570, 569, 568, 567, 566, 565, 564, 563,
  562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 551, 550, 549, 548, 547, 547, 546, 545,
  544, 543, 542, 541, 540, 540, 539, 538, 537, 536, 536, 535, 534, 533, 532, 532, 531, 530, 529,
  528, 528, 527, 526, 525, 525, 524, 523, 522, 522, 521, 520, 520, 519,
]

const discountG2: readonly number[] = [
  1000, 1000, 923, 884, 855, 832, 812, 796, 782, 770, 759, 749, 740, 732, 724, 717, 711, 704, 699,
  693, 688, 683, 679, 674, 670, 666, 663, 659, 655, 652, 649, 646, 643, 640, 637, 634, 632, 629,
  627, 624, 622, 620, 618, 615, 613, 611, 609, 607, 606, 604, 602, 600, 598, 597, 595, 593, 592,
  590, 589, 587, 586, 584, 583, 582, 580, 579, 578, 576, 575, 574, 573, 571, 570, 569, 568, 567,
  566, 565, 563, 562, 561, 560, 559, 558, 557, 556, 555, 554, 553, 552, 552, 551, 550, 549, 548,
  547, 546, 545, 545, 544, 543, 542, 541, 541, 540, 539, 538, 537, 537, 536, 535, 535, 534, 533,
  532, 532, 531, 530, 530, 529, 528, 528, 527, 526, 526, 525, 524, 524,
]
