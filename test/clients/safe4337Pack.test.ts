import { createRequire } from 'node:module'
import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens } from '../support/service/devTokens.js'
import { createDevPolicy } from '../support/service/devPolicies.js'
import { fund } from '../support/service/smartAccounts.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'
import { placeSafe } from './support/placeSafe.js'

/*
 * Safe4337Pack with its default estimator, that of Pimlico, and the real contracts of Safe. It knows
 * their addresses on public chains only, so the development chain has the id of one.
 */

/** What is used of it. Its own types make every address of viem a string, in this whole program. */
type Pack = {
  readonly protocolKit: { getAddress(): Promise<string> }
  createTransaction(draft: object): Promise<object>
  signSafeOperation(operation: object): Promise<object>
  executeTransaction(signed: { readonly executable: object }): Promise<string>
  getUserOperationReceipt(
    hash: string,
  ): Promise<{ readonly success: boolean; readonly paymaster?: string } | null>
}

type FeeEstimator = object
const { Safe4337Pack, GenericFeeEstimator } = createRequire(import.meta.url)(
  '@safe-global/relay-kit',
) as {
  readonly Safe4337Pack: { init(options: object): Promise<Pack> }
  readonly GenericFeeEstimator: new (nodeUrl: string, chainId: string) => FeeEstimator
}

/** There the SDK makes Safes of the contract `Safe`, elsewhere of `SafeL2`. */
const MAINNET = '1'

let anvil: Anvil
let folder: string
let purser: RunningPurser
beforeAll(async () => {
  anvil = await startAnvil(['--chain-id', MAINNET])
  folder = makeDataFolder()
  purser = await startPurser(folder, ['--rpc-url', anvil.url])
  await placeSafe(anvil.url)
})
afterAll(async () => {
  await purser.end('SIGTERM')
  removeDataFolder(folder)
  await anvil.stop()
})

function open(seed: string, paymasterOptions?: object) {
  const signer = keyFromSeed(`safe4337Pack ${seed}`)
  return Safe4337Pack.init({
    provider: anvil.url,
    signer,
    bundlerUrl: purser.info.standardUrl,
    safeModulesVersion: '0.3.0',
    options: { owners: [privateKeyToAccount(signer).address], threshold: 1 },
    ...(paymasterOptions && { paymasterOptions }),
  })
}

async function send(pack: Pack, options: object = {}) {
  const transactions = [{ to: TARGET, value: '0', data: '0x1234' }]
  const drafted = await pack.createTransaction({ transactions, options })
  const executable = await pack.signSafeOperation(drafted)
  const hash = await pack.executeTransaction({ executable })
  return until(() => pack.getUserOperationReceipt(hash))
}

test('pays for itself, the first operation creating the Safe', async () => {
  const pack = await open('self-paid')
  await fund({ rpcUrl: anvil.url }, (await pack.protocolKit.getAddress()) as Address)
  expect(await send(pack)).toMatchObject({ success: true })
  expect(await send(pack)).toMatchObject({ success: true })
})

test('is sponsored by the policy whose name is the id that it sends', async () => {
  const { standardUrl: paymasterUrl, tanks } = purser.info
  const sponsorshipPolicyId = 'sp_of_another_provider'
  const removePolicy = await createDevPolicy(purser.info, sponsorshipPolicyId)
  const pack = await open('sponsored', { isSponsored: true, paymasterUrl, sponsorshipPolicyId })
  for (const _ of ['creating', 'created']) {
    const receipt = await send(pack)
    expect(receipt).toMatchObject({ success: true })
    expect(receipt.paymaster?.toLowerCase()).toBe(tanks['0.7'])
  }
  await removePolicy()
})

test('pays in tokens with either fee estimator', async () => {
  const { standardUrl: paymasterUrl, tokenTanks, tokens } = purser.info
  const token = tokens.find(({ symbol }) => symbol === 'tUSD')!
  const estimators = [
    undefined,
    new GenericFeeEstimator(anvil.url, `0x${Number(MAINNET).toString(16)}`),
  ]
  for (const [at, feeEstimator] of estimators.entries()) {
    const paymasterOptions = {
      paymasterUrl,
      paymasterAddress: tokenTanks['0.7'],
      paymasterTokenAddress: token.address,
    }
    const pack = await open(`tokens ${at}`, paymasterOptions)
    const safe = (await pack.protocolKit.getAddress()) as Address
    await giveTokens({ rpcUrl: anvil.url }, token, safe, 100_000_000n)
    for (const _ of ['creating', 'created']) {
      const receipt = await send(pack, { feeEstimator })
      expect(receipt).toMatchObject({ success: true })
      expect(receipt.paymaster?.toLowerCase()).toBe(tokenTanks['0.7'])
    }
  }
})
