import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTransaction } from 'viem'
import { privateKeyToAccount, signAuthorization } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../base/errors/configError.js'
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
