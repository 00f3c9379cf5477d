import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount, signAuthorization } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type KeyService, startKeyService } from '../../../test/support/http/keyService.js'
import { ConfigError } from '../../base/errors/configError.js'
import { SignerUnavailableError } from '../../base/errors/processErrors.js'
import { openKmsSigner } from './kmsSigner.js'
import { localSigner } from './localSigner.js'
import { openSigner } from './openSigner.js'

const privateKey = `0x${'5e'.repeat(32)}` as const
const account = privateKeyToAccount(privateKey)

function transaction(nonce: number) {
  return {
    chainId: 10,
    nonce,
    to: `0x${'ee'.repeat(20)}` as const,
    data: '0x1234' as const,
    gas: 100_000n,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 3n,
  }
}

test('a local key signs the same bytes as viem', async () => {
  for (let nonce = 0; nonce < 20; nonce++) {
    const signed = await localSigner(privateKey).signTransaction(transaction(nonce))
    expect(signed).toBe(await account.signTransaction({ type: 'eip1559', ...transaction(nonce) }))
  }
})

test('authorizations make it a transaction of EIP-7702', async () => {
  const contractAddress = `0x${'de'.repeat(20)}` as const
  const authorization = { privateKey, chainId: 10, nonce: 3, contractAddress }
  const authorizationList = [await signAuthorization(authorization)]
  const given = { ...transaction(1), authorizationList }
  const signed = await localSigner(privateKey).signTransaction(given)
  expect(signed).toBe(await account.signTransaction({ type: 'eip7702', ...given }))
  const none = { ...transaction(1), authorizationList: [] }
  expect(parseTransaction(await localSigner(privateKey).signTransaction(none)).type).toBe('eip1559')
})

describe('a key in a key service', () => {
  let service: KeyService
  beforeAll(async () => {
    service = await startKeyService(privateKey)
  })
  afterEach(() => {
    service.mode = 'low'
  })
  afterAll(() => service.stop())

  const open = () =>
    openKmsSigner({
      keyId: 'alias/executor',
      region: 'eu-central-1',
      endpoint: service.url,
      credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: undefined },
    })

  test.each(['low', 'high'] as const)(
    'signs with s in the %s half as a local key',
    async (half) => {
      const signer = await open()
      expect(signer.address).toBe(account.address.toLowerCase())
      service.mode = half
      for (let nonce = 0; nonce < 10; nonce++) {
        const signed = await signer.signTransaction(transaction(nonce))
        expect(
          await recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` }),
        ).toBe(account.address)
        expect(signed).toBe(await localSigner(privateKey).signTransaction(transaction(nonce)))
      }
      expect(service.asked).toContain('TrentService.Sign')
    },
  )

  test.each([
    ['other key', 'signed with another key'],
    ['throttled', 'Sign: HTTP 400 ThrottlingException'],
    ['nonsense', 'no ECDSA signature'],
  ] as const)('that answers with %s signs nothing', async (mode, reason) => {
    const signer = await open()
    service.mode = mode
    const signing = signer.signTransaction(transaction(0))
    await expect(signing).rejects.toThrow(SignerUnavailableError)
    await expect(signing).rejects.toThrow(reason)
  })

  test('that is away is named', async () => {
    const gone = await startKeyService(privateKey)
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: undefined }
    const key = { keyId: 'k', region: 'eu-central-1', endpoint: gone.url, credentials }
    await gone.stop()
    await expect(openKmsSigner(key)).rejects.toThrow(/executor key k .*GetPublicKey/)
  })
})

describe('a key in a keystore file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-keystore-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('that is not there or holds something else is named', async () => {
    const keystore = join(folder, 'key.json')
    await expect(openSigner({ keystore, password: 'x' })).rejects.toThrow(
      `Keystore ${keystore}: The file cannot be read.`,
    )
    writeFileSync(keystore, '{}')
    const opening = openSigner({ keystore, password: 'x' })
    await expect(opening).rejects.toThrow(ConfigError)
    await expect(opening).rejects.toThrow('not a version 3 keystore')
  })
})
