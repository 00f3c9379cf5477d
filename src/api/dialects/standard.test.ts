import { createClient, type Hex, http } from 'viem'
import {
  estimateUserOperationGas,
  getPaymasterData,
  getPaymasterStubData,
  getSupportedEntryPoints,
  getUserOperation,
  getUserOperationReceipt,
  sendUserOperation,
  UserOperationNotFoundError,
  UserOperationReceiptNotFoundError,
} from 'viem/account-abstraction'
import { getChainId } from 'viem/actions'
import { expect, test } from 'vitest'
import { address, receipt } from '../../../test/support/http/apiFixtures.js'
import { memoryKeys } from '../../../test/support/http/memoryServices.js'
import { useApi } from '../../../test/support/http/useApi.js'
import { ValidationRejectedError } from '../../base/errors/operationErrors.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'

const { memory, url } = useApi()

function clientOf(path: string) {
  return createClient({
    transport: http(`${url()}/api/${path.replace('KEY', `31337/${memoryKeys.apiKey}`)}`),
  })
}
const standardPaths = ['v3/KEY', 'v2/KEY?dialect=standard']
const unknownHash: Hex = `0x${'ab'.repeat(32)}`

const common = {
  sender: address('1'),
  nonce: 2n ** 64n,
  callData: '0x1234',
  maxFeePerGas: 7n,
  maxPriorityFeePerGas: 0n,
  callGasLimit: 100_000n,
  verificationGasLimit: 100_000n,
  preVerificationGas: 50_000n,
  signature: '0xabcd',
} as const

const operations = {
  '0.6': { ...common, initCode: '0x', paymasterAndData: '0x' },
  '0.7': {
    ...common,
    paymaster: address('7'),
    paymasterData: '0xabcd',
    paymasterVerificationGasLimit: 30_000n,
    paymasterPostOpGasLimit: 0n,
  },
} as const

test.each(standardPaths)('viem reads every bundler answer of %s', async (path) => {
  const client = clientOf(path)
  expect(await getChainId(client)).toBe(31_337)
  expect(await getSupportedEntryPoints(client)).toContain(
    '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  )
  for (const version of ['0.6', '0.7'] as const) {
    const entryPointAddress = canonicalAddresses[version]
    const request = { ...operations[version], entryPointAddress }
    const estimate = await estimateUserOperationGas(client, request)
    expect(estimate.preVerificationGas).toBe(50_000n)
    expect(estimate.paymasterVerificationGasLimit).toBe(version === '0.6' ? undefined : 30_000n)

    const hash = await sendUserOperation(client, request)
    await expect(getUserOperationReceipt(client, { hash })).rejects.toThrow(
      UserOperationReceiptNotFoundError,
    )
    expect((await getUserOperation(client, { hash })).userOperation).toMatchObject(
      operations[version],
    )
    memory().include(hash)
    expect(await getUserOperationReceipt(client, { hash })).toMatchObject({
      success: true,
      actualGasCost: receipt.actualGasCost,
      receipt: { blockNumber: 7n, status: 'success', gasUsed: 27n },
    })
    expect(await getUserOperation(client, { hash })).toMatchObject({ blockNumber: 7n })
  }
  await expect(getUserOperation(client, { hash: unknownHash })).rejects.toThrow(
    UserOperationNotFoundError,
  )
})

test.each(['v1/KEY', 'v2/KEY', 'v3/KEY'])('viem reads paymaster answers of %s', async (path) => {
  const client = clientOf(path)
  const request = (version: '0.6' | '0.7') => ({
    ...operations[version],
    chainId: 31_337,
    entryPointAddress: canonicalAddresses[version],
  })
  expect(await getPaymasterStubData(client, request('0.6'))).toEqual({
    paymasterAndData: `${address('7')}ffff`,
    isFinal: false,
    sponsor: { name: 'App one', icon: 'https://one.example/icon.png' },
  })
  expect(await getPaymasterData(client, request('0.6'))).toMatchObject({
    paymasterAndData: `${address('7')}abcd`,
  })
  for (const ask of [getPaymasterStubData, getPaymasterData])
    expect(await ask(client, request('0.7'))).toMatchObject({
      paymaster: address('7'),
      paymasterVerificationGasLimit: 30_000n,
      paymasterPostOpGasLimit: 0n,
    })
})

test.each(['v2/KEY', 'v3/KEY'])('viem types the AA errors of %s and sends once', async (path) => {
  let attempts = 0
  memory().chain.admit = async () => {
    attempts++
    throw new ValidationRejectedError({ message: "AA21 didn't pay prefund", rule: 'AA21' })
  }
  const request = { ...operations['0.6'], entryPointAddress: canonicalAddresses['0.6'] }
  await expect(sendUserOperation(clientOf(path), request)).rejects.toMatchObject({
    cause: { name: 'InsufficientPrefundError' },
  })
  expect(attempts).toBe(1)
})

test('viem does not repeat a refused sponsorship', async () => {
  const client = clientOf('v3/KEY')
  const context = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { refuse: true } } }
  await expect(
    getPaymasterData(client, {
      ...operations['0.7'],
      chainId: 31_337,
      entryPointAddress: canonicalAddresses['0.7'],
      context,
    }),
  ).rejects.toThrow('The webhook denied the sponsorship.')
  expect(memory().calls.filter(({ name }) => name === 'sponsor')).toHaveLength(1)
})
