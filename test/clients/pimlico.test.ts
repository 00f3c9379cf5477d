import { createSmartAccountClient } from 'permissionless'
import { toSimpleSmartAccount } from 'permissionless/accounts'
import { createPimlicoClient } from 'permissionless/clients/pimlico'
import { prepareUserOperationForErc20Paymaster } from 'permissionless/experimental/pimlico'
import { type Address, http, parseUnits, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { createDevPolicy } from '../support/service/devPolicies.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* A user of Pimlico who changes the URL: the quickstarts of its documentation as they are. */

const info = usePurser()
const versions = ['0.6', '0.7', '0.8'] as const
type Known = (typeof versions)[number]

function entryPointOf(version: Known) {
  return { address: info().entryPoints[version] as Address, version }
}

function pimlicoOf(version: Known) {
  return createPimlicoClient({
    chain: foundry,
    transport: http(info().standardUrl),
    entryPoint: entryPointOf(version),
  })
}

function open(version: Known, seed: string) {
  return toSimpleSmartAccount({
    client: nodeClient(info()),
    owner: privateKeyToAccount(keyFromSeed(`pimlico ${version} ${seed}`)),
    entryPoint: entryPointOf(version),
  })
}

async function clientOf(version: Known, seed: string, settings: object) {
  const account = await open(version, seed)
  const pimlico = pimlicoOf(version)
  return createSmartAccountClient({
    account,
    chain: foundry,
    pollingInterval: 100,
    bundlerTransport: http(info().standardUrl),
    userOperation: {
      estimateFeesPerGas: async () => (await pimlico.getUserOperationGasPrice()).fast,
    },
    ...settings,
  })
}

const call = { to: TARGET, value: 0n, data: '0x1234' } as const

/* The id that the user's code sends is the name of a policy here. */
let removePolicy = async () => {}
beforeAll(async () => {
  removePolicy = await createDevPolicy(info(), 'sp_of_another_provider')
})
afterAll(() => removePolicy())

describe.each(versions)('Pimlico, EntryPoint v%s', (version) => {
  test('the quickstart sponsors at the gas price that it asks for', async () => {
    const pimlico = pimlicoOf(version)
    const { slow, standard, fast } = await pimlico.getUserOperationGasPrice()
    expect(slow.maxFeePerGas).toBeLessThanOrEqual(standard.maxFeePerGas)
    expect(standard.maxFeePerGas).toBeLessThanOrEqual(fast.maxFeePerGas)
    const client = await clientOf(version, 'quickstart', {
      paymaster: pimlico,
      paymasterContext: { sponsorshipPolicyId: 'sp_of_another_provider', validForSeconds: 120 },
    })
    const hash = await client.sendUserOperation({ calls: [call] })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt).toMatchObject({ success: true })
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks[version])
    expect(await pimlico.getUserOperationStatus({ hash })).toEqual({
      status: 'included',
      transactionHash: receipt.receipt.transactionHash,
    })
  })

  test('pays for itself without a paymaster', async () => {
    const client = await clientOf(version, 'self-paid', {})
    await fund(info(), client.account.address)
    const hash = await client.sendUserOperation({ calls: [call] })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
  })

  test('an operation is sponsored in one request, with a policy of another provider', async () => {
    const client = await clientOf(version, 'one request', {})
    const drafted = await client.prepareUserOperation({
      calls: [call],
      parameters: ['factory', 'fees', 'nonce', 'signature'],
    })
    const pimlico = pimlicoOf(version)
    const sponsorshipPolicyId = 'sp_of_another_provider'
    const willing = await pimlico.validateSponsorshipPolicies({
      userOperation: drafted as never,
      sponsorshipPolicyIds: [sponsorshipPolicyId],
    })
    expect(willing).toMatchObject([{ data: { name: sponsorshipPolicyId } }])
    await expect(
      pimlico.sponsorUserOperation({
        userOperation: drafted as never,
        sponsorshipPolicyId: 'sp_unknown',
      }),
    ).rejects.toThrow(/no policy with the id or name "sp_unknown"/)
    const sponsored = await pimlico.sponsorUserOperation({
      userOperation: drafted as never,
      sponsorshipPolicyId,
    })
    const operation = { ...drafted, ...sponsored }
    const signature = await client.account.signUserOperation(operation as never)
    const hash = await client.sendUserOperation({ ...operation, signature } as never)
    expect((await client.waitForUserOperationReceipt({ hash })).success).toBe(true)
  })

  test('tokens are approved and taken by the quote of the ERC-20 flow', async () => {
    const token = tokenNamed(info(), 'tUSD')
    const pimlico = pimlicoOf(version)
    const client = await clientOf(version, 'tokens', {
      paymaster: pimlico,
      paymasterContext: { token: token.address },
      userOperation: {
        estimateFeesPerGas: async () => (await pimlico.getUserOperationGasPrice()).fast,
        prepareUserOperation: prepareUserOperationForErc20Paymaster(pimlico),
      },
    })
    await giveTokens(info(), token, client.account.address, parseUnits('500', 6))
    const before = await tokensOf(info(), token, client.account.address)
    const hash = await client.sendUserOperation({ calls: [call] })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tokenTanks[version])
    const paid = before - (await tokensOf(info(), token, client.account.address))
    // 3,000 tokens per coin and 5 percent on top: never below what the tank paid.
    expect(paid).toBeGreaterThanOrEqual((receipt.actualGasCost * 3_150n * 10n ** 6n) / 10n ** 18n)

    const { callData: _, ...sent } = (await client.getUserOperation({ hash })).userOperation
    const { costInToken } = await pimlico.estimateErc20PaymasterCost({
      userOperation: { ...sent, callData: '0x' } as never,
      token: token.address,
    })
    expect(costInToken).toBeGreaterThanOrEqual(paid)
  })

  test('quotes and stati of what does not exist are empty', async () => {
    const pimlico = pimlicoOf(version)
    expect(await pimlico.getTokenQuotes({ tokens: [TARGET] })).toEqual([])
    expect(await pimlico.getUserOperationStatus({ hash: zeroHash })).toEqual({
      status: 'not_found',
      transactionHash: null,
    })
  })
})
