import fc from 'fast-check'
import { bytesToHex, hexToBytes, recoverAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { nativeSignHash, portableSignHash, signHash } from './localSigner.js'

const portable = await portableSignHash()
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const key = fc
  .bigInt({ min: 1n, max: order - 1n })
  .map((value) => hexToBytes(`0x${value.toString(16).padStart(64, '0')}`))
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('the signer of every signature is the address of the key, by viem', async () => {
  await fc.assert(
    fc.asyncProperty(hash, key, async (message, secret) => {
      const { signature, recoveryId } = signHash(message, secret)
      const recovered = await recoverAddress({
        hash: bytesToHex(message),
        signature: `${bytesToHex(signature)}${recoveryId === 0 ? '1b' : '1c'}`,
      })
      expect(recovered).toBe(privateKeyToAddress(bytesToHex(secret)))
    }),
    { numRuns: 20 },
  )
})

test.skipIf(nativeSignHash() === undefined)(
  'native and portable signatures are the same bytes',
  () => {
    const native = nativeSignHash()!
    fc.assert(
      fc.property(hash, key, (message, secret) => {
        expect(native(message, secret)).toEqual(portable(message, secret))
      }),
    )
  },
)

test.each([
  ['0', new Uint8Array(32)],
  ['the order of the curve', hexToBytes(`0x${order.toString(16)}`)],
])('%s is no key', (_name, secret) => {
  expect(() => signHash(new Uint8Array(32), secret)).toThrow()
  expect(() => portable(new Uint8Array(32), secret)).toThrow()
})
