import { parseTransaction } from 'viem'
import { privateKeyToAccount, signAuthorization } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { SignerUnavailableError } from '../../src/base/errors/processErrors.js'
import { localSigner } from '../../src/chain/signing/localSigner.js'
import { openSigner } from '../../src/chain/signing/openSigner.js'
import type { ServiceKey, SigningReport } from '../../src/chain/signing/serviceSigner.js'
import { type KeyService, keyServiceKinds, startKeyService } from '../support/http/keyService.js'
import { until } from '../support/until.js'

const privateKey = `0x${'5e'.repeat(32)}` as const
const account = privateKeyToAccount(privateKey)
const address = account.address.toLowerCase() as `0x${string}`
const services: KeyService[] = []
let first: KeyService
let second: KeyService

beforeAll(async () => {
  services.push(await startKeyService(privateKey), await startKeyService(privateKey))
  ;[first, second] = services as [KeyService, KeyService]
})
afterEach(() => {
  for (const service of services) service.mode = 'low'
})
afterAll(() => Promise.all(services.map((service) => service.stop())))

function transaction(nonce: number) {
  return {
    chainId: 10,
    nonce,
    to: `0x${'ee'.repeat(20)}` as const,
    data: '0x1234' as const,
    value: 7n,
    gas: 100_000n,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 3n,
  }
}

/** What is signed once the service is asked again. */
function signedAgain(signer: Awaited<ReturnType<typeof open>>) {
  return until(() => signer.signTransaction(transaction(1)).catch(() => undefined))
}

function open(...keys: ServiceKey[]) {
  return openSigner({ services: keys })
}

describe.each(keyServiceKinds)('a key in %s', (kind) => {
  test.each(['low', 'high', 'wrong parity'] as const)(
    'signs as a local key, where the service answers with a %s signature',
    async (mode) => {
      const signer = await open(first.key(kind))
      expect(signer.address).toBe(address)
      first.mode = mode
      for (let nonce = 0; nonce < 5; nonce++)
        expect(await signer.signTransaction(transaction(nonce))).toBe(
          await localSigner(privateKey).signTransaction(transaction(nonce)),
        )
      expect(first.refused).toEqual([])
      expect(first.asked.at(-1)).toContain(kind)
    },
  )

  const nonsense = {
    kms: 'no ECDSA signature',
    gcp: 'no ECDSA signature',
    azure: '64 or 65 bytes',
    turnkey: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    web3signer: '64 or 65 bytes',
    jsonRpc: 'no transaction',
  }[kind]
  test.each([
    ['other key', 'signed with another key'],
    ['throttled', /Throttl|RESOURCE_EXHAUSTED|rate limited|HTTP 503|HTTP 429/],
    ['revoked', /AccessDenied|PERMISSION_DENIED|Forbidden|not allowed|HTTP 404|authentication/],
    ['nonsense', nonsense],
  ] as const)(
    'that answers with %s signs nothing, and signs again afterwards',
    async (mode, reason) => {
      const signer = await open(first.key(kind))
      await signer.signTransaction(transaction(0))
      first.mode = mode
      // Its rest of half a second or more does not end while it is looked at.
      const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
      onTestFinished(() => clock.mockRestore())
      const signing = signer.signTransaction(transaction(1))
      await expect(signing).rejects.toThrow(SignerUnavailableError)
      await expect(signing).rejects.toThrow(reason)
      first.mode = 'low'
      // During its rest it is not asked, and the reason is known all the same.
      const asked = first.asked.length
      await expect(signer.signTransaction(transaction(1))).rejects.toThrow(reason)
      expect(first.asked).toHaveLength(asked)
      clock.mockRestore()
      expect(await signedAgain(signer)).toMatch(/^0x02/)
    },
  )

  test('that is away is named', async () => {
    const gone = await startKeyService(privateKey)
    const key = gone.key(kind)
    await gone.stop()
    const signing = open(key).then((signer) => signer.signTransaction(transaction(0)))
    await expect(signing).rejects.toThrow(/connection failed \(ECONNREFUSED\)/)
  })
})

test('a service that does not answer in 5 s is left for the next one', async () => {
  first.mode = 'slow'
  const wanted = await localSigner(privateKey).signTransaction(transaction(0))
  await Promise.all(
    keyServiceKinds.map(async (kind) => {
      const reports: SigningReport[] = []
      const services = [{ ...first.key(kind), address }, second.key(kind)]
      const signer = await openSigner({ services }, (report) => reports.push(report))
      expect(await signer.signTransaction(transaction(0))).toBe(wanted)
      const [failed, signed] = reports
      expect(failed?.failure?.message).toContain('time limit')
      expect(failed?.seconds).toBeGreaterThan(4)
      expect(signed).toMatchObject({ service: kind, address })
      expect(signed?.failure).toBeUndefined()
    }),
  )
})

test('a revoked token is asked for anew', async () => {
  for (const kind of ['gcp', 'azure'] as const) {
    const signer = await open(first.key(kind))
    await signer.signTransaction(transaction(0))
    first.revokeTokens()
    await expect(signer.signTransaction(transaction(1))).rejects.toThrow(
      /UNAUTHENTICATED|Unauthorized/,
    )
    expect(await signedAgain(signer)).toMatch(/^0x02/)
  }
})

test('Google is asked with a token of the metadata server where there is no key file', async () => {
  const credentials = { metadataHost: new URL(first.url).host }
  const signer = await open({ ...first.key('gcp'), credentials } as ServiceKey)
  expect(signer.address).toBe(address)
  expect(first.asked).toContain('gcp /computeMetadata/v1/instance/service-accounts/default/token')
})

test('a transaction in which a JSON-RPC signer changed a field is not sent', async () => {
  const signer = await open(first.key('jsonRpc'))
  first.mode = 'other fee'
  const signing = signer.signTransaction(transaction(0))
  await expect(signing).rejects.toThrow('it signed another maxFeePerGas')
})

test('transactions of EIP-7702 are signed by all but a JSON-RPC signer that does not know them', async () => {
  const contractAddress = `0x${'de'.repeat(20)}` as const
  const authorization = await signAuthorization({
    privateKey,
    chainId: 10,
    nonce: 3,
    contractAddress,
  })
  const delegating = { ...transaction(1), authorizationList: [authorization] }
  for (const kind of keyServiceKinds) {
    const signer = await open(first.key(kind))
    expect(signer.signsAuthorizations).toBe(kind !== 'jsonRpc')
    const signing = signer.signTransaction(delegating)
    if (kind === 'jsonRpc') await expect(signing).rejects.toThrow('it signed another type')
    else expect(parseTransaction(await signing).type).toBe('eip7702')
  }
})

test('a configured address saves the question for it, and is what a signature must recover to', async () => {
  const asked = first.asked.length
  const other = { ...first.key('kms'), address: `0x${'11'.repeat(20)}` as const }
  const signer = await open(other)
  expect(first.asked).toHaveLength(asked)
  await expect(signer.signTransaction(transaction(0))).rejects.toThrow('signed with another key')
  await expect(open(other, first.key('turnkey'))).rejects.toThrow('several addresses')
})

test('services of different kinds hold one key', async () => {
  const signer = await open(first.key('kms'), second.key('turnkey'), second.key('jsonRpc'))
  expect(signer.signsAuthorizations).toBe(false)
  first.mode = 'revoked'
  const turn = second.asked.length
  for (let nonce = 0; nonce < 3; nonce++)
    expect(await signer.signTransaction(transaction(nonce))).toBe(
      await localSigner(privateKey).signTransaction(transaction(nonce)),
    )
  expect(second.asked.slice(turn)).toHaveLength(3)
  second.mode = 'revoked'
  await expect(signer.signTransaction(transaction(9))).rejects.toThrow(SignerUnavailableError)
})
