import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readDerPublicKey, readDerSignature } from './kmsSigner.js'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

function integer(value: bigint): number[] {
  const hex = value.toString(16)
  const bytes = [...Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')]
  const content = (bytes[0] ?? 0) & 0x80 ? [0, ...bytes] : bytes
  return [0x02, content.length, ...content]
}
function der(r: bigint, s: bigint): Uint8Array {
  const body = [...integer(r), ...integer(s)]
  return Uint8Array.from([0x30, body.length, ...body])
}
const number = fc.bigInt({ min: 1n, max: order - 1n })

test('reads any signature, and gives s in the lower half', () => {
  fc.assert(
    fc.property(number, number, (r, s) => {
      const read = readDerSignature(der(r, s))
      expect(read.r).toBe(r)
      expect([s, order - s]).toContain(read.s)
      expect(read.s).toBeLessThanOrEqual(order / 2n)
    }),
  )
})

test('refuses what is cut short, has more behind it, or is changed in its frame', () => {
  fc.assert(
    fc.property(number, number, fc.nat(80), (r, s, at) => {
      const good = der(r, s)
      expect(() => readDerSignature(good.subarray(0, at % good.length))).toThrow()
      expect(() => readDerSignature(Uint8Array.from([...good, 0]))).toThrow()
      expect(() => readDerSignature(good.map((byte, i) => (i === 0 ? byte ^ 1 : byte)))).toThrow()
    }),
  )
})

test.each([
  ['zero', der(0n, 1n)],
  ['the order', der(1n, order)],
  ['more than the order', der(order + 5n, 1n)],
  ['a negative number', Uint8Array.from([0x30, 6, 2, 1, 0x80, 2, 1, 1])],
])('refuses %s', (_name, bytes) => {
  expect(() => readDerSignature(bytes)).toThrow('ECDSA')
})

test('reads what OpenSSL writes', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const { r, s } = readDerSignature(createSign('sha256').update(randomBytes(8)).sign(privateKey))
  expect(r > 0n && s > 0n).toBe(true)
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const hex = (part: string | undefined) => Buffer.from(part ?? '', 'base64url').toString('hex')
  expect(readDerPublicKey(spki)).toBe(`0x04${hex(x)}${hex(y)}`)
})

test('refuses a key of another curve', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  expect(() => readDerPublicKey(publicKey.export({ type: 'spki', format: 'der' }))).toThrow(
    'secp256k1',
  )
})
