import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../base/errors/configError.js'
import { decryptKeystore } from './keystore.js'

/** The PBKDF2 vector of the Web3 Secret Storage definition. */
const key = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const pbkdf2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
/** The same key as ethers 5 encrypts it. */
const scrypt = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: 'be7c9792d63951987455d3d2dab1d191' },
    ciphertext: '5b4b0e027d28a9c4355c3fc8a440f790d1e3d82b722731d1f7e5f6411da19f0d',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 8192,
      p: 1,
      r: 8,
      salt: '842733605cf81b2ee42c98dc46a8ca37026fa1ea49b97f9f4a16811ea8dc6f4b',
    },
    mac: '4e394989e478ade0d45dbd77c6907d8aaae165319ba715eb5e068f2327296695',
  },
  id: '359e7d15-0ed9-4d63-af41-ead1c0366262',
  version: 3,
}

describe.each([
  ['pbkdf2', pbkdf2],
  ['scrypt', scrypt],
])('a keystore with %s', (_name, keystore) => {
  test('opens with its password', async () => {
    expect(await decryptKeystore(JSON.stringify(keystore), 'testpassword')).toBe(key)
  })

  test('does not open with another one, or when it was changed', async () => {
    await expect(decryptKeystore(JSON.stringify(keystore), 'testpasswore')).rejects.toThrow(
      'does not decrypt',
    )
    const { ciphertext } = keystore.crypto
    const changed = { ...keystore.crypto, ciphertext: `00${ciphertext.slice(2)}` }
    await expect(
      decryptKeystore(JSON.stringify({ ...keystore, crypto: changed }), 'testpassword'),
    ).rejects.toThrow('does not decrypt')
  })
})

test('a keystore that ethers 6 writes opens', async () => {
  const crypto = {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '13074050dcf767f71b6309b2d8603e71' },
    ciphertext: '9da1ca3fe9e40ecde09e4177b5fbf322a5db39953e3a7d5271cd25da17c6b899',
    kdf: 'scrypt',
    kdfparams: {
      salt: '0337240cd3f41b6833778242092f53813fb698cef698f39a005f322574a15e74',
      n: 8192,
      dklen: 32,
      p: 1,
      r: 8,
    },
    mac: 'd82780707fb56274c001e4dfcee7a7eb7ec5f45ecc42663884fe4598f89e4d75',
  }
  const id = '2455b676-cd2e-498e-9d0a-a1f5e57875f9'
  const content = JSON.stringify({
    address: '008aeeda4d805471df9b2a5b0f38a0c3bcba786b',
    id,
    version: 3,
    Crypto: crypto,
  })
  expect(await decryptKeystore(content, 'testpassword')).toBe(key)
})

const { crypto } = scrypt
test.each([
  ['no JSON', '{'],
  ['another version', JSON.stringify({ ...scrypt, version: 1 })],
  [
    'a key of another length',
    JSON.stringify({ ...scrypt, crypto: { ...crypto, ciphertext: '00' } }),
  ],
  [
    'parameters that scrypt does not allow',
    JSON.stringify({
      ...scrypt,
      crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, n: 2 ** 17, r: 1 } },
    }),
  ],
  [
    'more work than anyone asks for',
    JSON.stringify({
      ...scrypt,
      crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, n: 2 ** 30 } },
    }),
  ],
])('%s is refused without a look at the password', async (_name, content) => {
  const refusal = decryptKeystore(content, 'testpassword')
  await expect(refusal).rejects.toThrow(ConfigError)
  await expect(refusal).rejects.toThrow('not a version 3 keystore')
})
