import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../test/evm/random.js'
import { nativeRecoverKey, portableRecoverKey } from './recoverKey.js'

const SEED = 11
const random = createRandom(SEED)

function sample() {
  const key = random.bytes(32)
  const hash = random.bytes(32)
  const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' })
  const recoveryId = (signature[0]! & 1) as 0 | 1
  const publicKey = secp256k1.getPublicKey(key, false).subarray(1)
  return { hash, signature: signature.slice(1), recoveryId, publicKey }
}

const ORDER = secp256k1.Point.Fn.ORDER

describe.each([
  ['native', async () => nativeRecoverKey()],
  ['portable', portableRecoverKey],
])('recoverKey, %s', (_, load) => {
  it(`finds the key of a signature (seed ${SEED})`, async () => {
    const recover = (await load())!
    for (let i = 0; i < 50; i++) {
      const { hash, signature, recoveryId, publicKey } = sample()
      expect(Uint8Array.from(recover(hash, signature, recoveryId)!)).toEqual(publicKey)
    }
  })

  it('takes a high s, as ecrecover does', async () => {
    const recover = (await load())!
    const { hash, signature, recoveryId, publicKey } = sample()
    const s = ORDER - BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`)
    const high = Uint8Array.from([
      ...signature.subarray(0, 32),
      ...Buffer.from(s.toString(16).padStart(64, '0'), 'hex'),
    ])
    const flipped = (1 - recoveryId) as 0 | 1
    expect(Uint8Array.from(recover(hash, high, flipped)!)).toEqual(publicKey)
  })

  it('finds none for zero, for values beyond the order, and for an r off the curve', async () => {
    const recover = (await load())!
    const hash = random.bytes(32)
    const word = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
    for (const [r, s] of [
      [0n, 1n],
      [1n, 0n],
      [ORDER, 1n],
      [1n, ORDER],
      [5n, 1n],
    ] as const) {
      expect(recover(hash, Uint8Array.from([...word(r), ...word(s)]), 0)).toBeUndefined()
    }
  })
})
