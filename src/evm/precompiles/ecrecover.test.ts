import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak } from '../bytes/keccak.js'
import { ecrecover } from './ecrecover.js'

const secret = keccak(Uint8Array.of(7))
const signer = keccak(secp256k1.getPublicKey(secret, false).subarray(1)).subarray(12)

function inputOf(message: number): Uint8Array {
  const hash = keccak(Uint8Array.of(message >> 8, message & 255))
  const signature = secp256k1.sign(hash, secret, { prehash: false, format: 'recovered' })
  const input = new Uint8Array(128)
  input.set(hash)
  input[63] = 27 + (signature[0] ?? 0)
  input.set(signature.subarray(1), 64)
  return input
}

const inputs = Array.from({ length: 40 }, (_, message) => inputOf(message))

test('each time gives the signer, in an array of its own', () => {
  const input = inputs[0]!
  const first = ecrecover.run(input)!
  expect(first.subarray(12)).toEqual(signer)
  first.fill(0)
  expect(ecrecover.run(input)!.subarray(12)).toEqual(signer)
})

test('another input is never answered by a remembered one', () =>
  fc.assert(
    fc.property(fc.nat(39), fc.nat(127), fc.integer({ min: 1, max: 255 }), (at, byte, change) => {
      const input = inputs[at]!
      expect(ecrecover.run(input)!.subarray(12)).toEqual(signer)
      const changed = input.slice()
      changed[byte]! ^= change
      expect(ecrecover.run(changed)!.subarray(12)).not.toEqual(signer)
    }),
  ))
