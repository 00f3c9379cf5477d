import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { privateKeyToAccount, publicKeyToAddress, sign } from 'viem/accounts'
import { addressOfKey, readDerSignature, readPlainSignature, toSignature } from './signature.js'

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

test('reads any signature', () => {
  fc.assert(
    fc.property(number, number, (r, s) => {
      expect(readDerSignature(der(r, s))).toEqual({ r, s })
      const plain = Buffer.from(
        [r, s].map((each) => each.toString(16).padStart(64, '0')).join(''),
        'hex',
      )
      expect(readPlainSignature(plain)).toEqual({ r, s })
      expect(readPlainSignature(Buffer.concat([plain, Buffer.of(27)]))).toEqual({ r, s })
      expect(() => readPlainSignature(plain.subarray(1))).toThrow('64')
    }),
  )
})

test('finds the half and the parity of a signature, and refuses one of another key', async () => {
  const privateKey = `0x${'5e'.repeat(32)}` as const
  const { address } = privateKeyToAccount(privateKey)
  for (let seed = 0; seed < 20; seed++) {
    const hash = `0x${seed.toString(16).padStart(64, '0')}` as const
    const { r, s, yParity } = await sign({ hash, privateKey, to: 'object' })
    const numbers = { r: BigInt(r), s: BigInt(s) }
    const wanted = { r, s, yParity }
    expect(await toSignature(address, hash, numbers)).toEqual(wanted)
    expect(await toSignature(address, hash, { ...numbers, s: order - numbers.s })).toEqual(wanted)
    expect(await toSignature(`0x${'11'.repeat(20)}`, hash, numbers)).toBeUndefined()
    expect(await toSignature(address, hash, { ...numbers, s: 0n })).toBeUndefined()
    expect(await toSignature(address, hash, { r: order, s: 1n })).toBeUndefined()
  }
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
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const hex = [x, y].map((part) =>
    Buffer.from(part!, 'base64url').toString('hex').padStart(64, '0'),
  )
  const address = publicKeyToAddress(`0x04${hex.join('')}`).toLowerCase()
  expect(addressOfKey({ key, format: 'der', type: 'spki' })).toBe(address)
})

test('refuses a key of another curve', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' })
  expect(() => addressOfKey(pem)).toThrow('secp256k1')
  expect(() => addressOfKey('nothing')).toThrow('cannot be read')
})
