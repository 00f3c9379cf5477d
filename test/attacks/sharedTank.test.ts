import {
  type Address,
  createTestClient,
  type Hex,
  http,
  numberToHex,
  parseEther,
  publicActions,
} from 'viem'
import type { SmartAccount, UserOperation } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { beforeAll, expect, test } from 'vitest'
import { funderKey } from '../../src/cli/devnet/devKeys.js'
import { lastIndexed } from '../../src/bundler/outbox/chainBlocks.js'
import { withBooks } from '../support/database/books.js'
import { fundsOn } from '../support/database/fundsOn.js'
import { result } from '../support/http/jsonRpc.js'
import { carryPastService } from '../support/service/carryPastService.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { TARGET } from '../support/service/devAccount.js'
import { simpleSmartAccount } from '../support/service/smartAccounts.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * Two apps share the operator's tank. Somebody lets both sponsor the same operation, byte for byte: the
 * tank pays once, and one of the two must be charged, once. Then the operator withdraws from the tank
 * what is promised to users.
 */

const purser = useRunningPurser()
const version = '0.7'
const apps: { appId: string; apiKey: string }[] = []

beforeAll(async () => {
  const { info, dataFolder } = purser()
  const commands = commandsOn(dataFolder)
  const chain = ['--chain', String(info.chainId)]
  await commands.answer(
    'tank',
    'deposit',
    '--shared',
    '--amount',
    '1',
    '--entry-point',
    version,
    ...chain,
  )
  for (const name of ['first', 'second']) {
    const { appId, apiKey } = await createTenant(dataFolder, name)
    await withBooks(dataFolder, async (database) => {
      const funds = fundsOn(database, info.chainId)
      await funds.setMode(appId, 'shared')
      await funds.credit(appId, parseEther('0.5'), 'gift')
    })
    apps.push({ appId, apiKey })
  }
})

function urlOf({ apiKey }: { apiKey: string }): string {
  const { info } = purser()
  return info.standardUrl.replace(info.apiKey, apiKey)
}

/** The operation with the fields that the sponsorship of an app gives it. */
async function sponsoredBy(app: { apiKey: string }, account: SmartAccount) {
  const { info } = purser()
  const { factory, factoryData } = await account.getFactoryArgs()
  const callData = await account.encodeCalls([{ to: TARGET, value: 0n, data: '0x' as Hex }])
  const fees = {
    maxFeePerGas: 2_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  }
  const draft = {
    sender: account.address,
    nonce: numberToHex(0n),
    factory,
    factoryData,
    callData,
    signature: await account.getStubSignature(),
    maxFeePerGas: numberToHex(fees.maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(fees.maxPriorityFeePerGas),
  }
  const answer = await result(urlOf(app), 'pm_sponsorUserOperation', [
    draft,
    info.entryPoints[version],
    { mode: 'SPONSORED' },
  ])
  expect([answer.maxFeePerGas, answer.maxPriorityFeePerGas]).toEqual([
    draft.maxFeePerGas,
    draft.maxPriorityFeePerGas,
  ])
  return {
    ...fees,
    sender: account.address,
    nonce: 0n,
    factory,
    factoryData,
    callData,
    paymaster: answer.paymaster as Address,
    paymasterData: answer.paymasterData as Hex,
    paymasterVerificationGasLimit: BigInt(answer.paymasterVerificationGasLimit),
    paymasterPostOpGasLimit: BigInt(answer.paymasterPostOpGasLimit),
    callGasLimit: BigInt(answer.callGasLimit),
    verificationGasLimit: BigInt(answer.verificationGasLimit),
    preVerificationGas: BigInt(answer.preVerificationGas),
    signature: '0x' as Hex,
  } as UserOperation<'0.7'>
}

function reservationsOf(sender: Address) {
  return withBooks(purser().dataFolder, (database) =>
    database
      .selectFrom('reservations')
      .select(['app_id', 'state', 'actual_cost'])
      .where('sender', '=', sender.toLowerCase() as Address)
      .orderBy('id')
      .execute(),
  )
}

test('one operation that two apps sponsored is charged to one of them', async () => {
  const { info } = purser()
  const account = await simpleSmartAccount(info, version, 'of two sponsors')
  const transport = http(info.rpcUrl)
  const tester = createTestClient({ mode: 'anvil', chain: foundry, transport }).extend(
    publicActions,
  )
  // By the clock of a chain that is ahead both sponsorships end in the same second.
  await tester.increaseTime({ seconds: 3_600 })
  await tester.mine({ blocks: 1 })
  const mined = await tester.getBlockNumber()
  const indexed = () => withBooks(purser().dataFolder, lastIndexed)
  await until(async () => ((await indexed()).get(info.chainId) ?? 0n) >= mined)
  const sponsored = []
  for (const app of apps) sponsored.push(await sponsoredBy(app, account))
  const [operation, twin] = sponsored
  expect(twin).toEqual(operation)
  if (operation === undefined) throw new Error('nothing was sponsored')
  const signed = { ...operation, signature: await account.signUserOperation(operation) }

  const event = await carryPastService(info, signed, account.entryPoint.address)
  const rows = await until(async () => {
    const found = await reservationsOf(account.address)
    return found.every(({ state }) => state === 'included') && found
  })
  expect(rows.map(({ app_id }) => app_id)).toEqual(apps.map(({ appId }) => appId))
  expect(rows.map(({ actual_cost }) => actual_cost)).toEqual([event.actualGasCost, 0n])
})

test('a tank with live reservations is emptied only when the operator says so', async () => {
  const { info, dataFolder } = purser()
  const [app] = apps
  if (app === undefined) throw new Error('there is no app')
  const account = await simpleSmartAccount(info, version, 'promised')
  await sponsoredBy(app, account)
  const commands = commandsOn(dataFolder, { FUNDER_KEY: funderKey })
  const tank = ['--shared', '--chain', String(info.chainId), '--entry-point', version]
  const shown = await commands.answer('tank', 'show', ...tank)
  const amount = /^deposit +([\d.]+) ETH$/m.exec(shown)?.[1] ?? ''
  const withdraw = ['tank', 'withdraw', '--amount', amount, '--key', 'env:FUNDER_KEY', ...tank]
  expect(await commands.refusal(...withdraw)).toMatch(
    /may still take [\d.]+ of the [\d.]+ deposited/,
  )
  expect(await commands.answer(...withdraw, '--reserved')).toMatch(/^deposit +0 ETH$/m)
})
