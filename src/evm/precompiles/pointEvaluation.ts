import { createHash } from 'node:crypto'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { toBigInt, toBytes } from '../bytes/hex.js'
import type { Precompile } from './precompile.js'

const { G1, G2, fields, pairingBatch } = bls12_381
const { Fp12, Fr } = fields
type PointG1 = typeof G1.Point.BASE

const SIZE = 192
const FIELD_ELEMENTS_PER_BLOB = 4096n
const VERSION_KZG = 0x01

/** The one point of the KZG ceremony that verification needs: its secret times the generator of G2. */
const secretG2 = G2.Point.fromHex(
  'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72' +
    '185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2',
)

/** 0x0a (EIP-4844): proof that a blob's polynomial has value y at z. */
export const pointEvaluation: Precompile = {
  gas: () => 50_000,
  stepsPerGas: 20,
  run: (input) => {
    if (input.length !== SIZE) return undefined
    const commitment = input.slice(96, 144)
    if (!isVersionedHash(input.subarray(0, 32), commitment)) return undefined
    const z = toBigInt(input.subarray(32, 64))
    const y = toBigInt(input.subarray(64, 96))
    if (z >= Fr.ORDER || y >= Fr.ORDER) return undefined
    const c = point(commitment)
    const proof = point(input.slice(144))
    if (c === undefined || proof === undefined || !verifies(c, z, y, proof)) return undefined
    const output = new Uint8Array(64)
    output.set(toBytes(FIELD_ELEMENTS_PER_BLOB, 32))
    output.set(toBytes(Fr.ORDER, 32), 32)
    return output
  },
}

function isVersionedHash(hash: Uint8Array, commitment: Uint8Array): boolean {
  const expected = createHash('sha256').update(commitment).digest()
  expected[0] = VERSION_KZG
  return expected.equals(hash)
}

/** A compressed point of the subgroup. */
function point(bytes: Uint8Array): PointG1 | undefined {
  try {
    const decoded = G1.Point.fromBytes(bytes)
    decoded.assertValidity()
    return decoded
  } catch {
    return undefined
  }
}

/** e(commitment − y, G2) = e(proof, secret − z) */
function verifies(commitment: PointG1, z: bigint, y: bigint, proof: PointG1): boolean {
  const numerator = commitment.subtract(G1.Point.BASE.multiplyUnsafe(y))
  const denominator = secretG2.subtract(G2.Point.BASE.multiplyUnsafe(z))
  const pairs = [
    { g1: numerator.negate(), g2: G2.Point.BASE },
    { g1: proof, g2: denominator },
  ].filter(({ g1, g2 }) => !g1.is0() && !g2.is0())
  return Fp12.eql(pairingBatch(pairs), Fp12.ONE)
}
