import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { newSecret, signatureHeaders } from './signature.js'

const id = 'b6a0a0f4-6f9c-4a53-8a16-4b3c0e6b2f51'
const now = Math.floor(Date.now() / 1000)

test('receivers verify the signature with the package of the standard', () => {
  const secret = newSecret()
  const content = '{"data":{"é":"\\ud800","n":1.0}}'
  const headers = signatureHeaders([secret], id, now, content)
  expect(() => new Webhook(secret).verify(content, headers)).not.toThrow()
  expect(() => new Webhook(secret).verify(content.replace('n', 'm'), headers)).toThrow()
  expect(() => new Webhook(newSecret()).verify(content, headers)).toThrow()
  expect(() => new Webhook(secret).verify(content, { ...headers, 'webhook-id': 'x' })).toThrow()
})

test('the signature equals the one that the package makes', () => {
  const secret = newSecret()
  const headers = signatureHeaders([secret], id, now, 'data=1')
  const expected = new Webhook(secret).sign(id, new Date(now * 1000), 'data=1')
  expect(headers['webhook-signature']).toBe(expected)
})

test('a secret holds 32 random bytes', () => {
  const secrets = new Set(Array.from({ length: 100 }, newSecret))
  expect(secrets.size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})
