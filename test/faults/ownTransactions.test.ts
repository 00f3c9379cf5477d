import { createTestClient, type Hex, http, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { devKey } from '../../src/devnet/devKeys.js'
import type { FaultPoint } from '../../src/faults.js'
import { startEmbeddedPostgres } from '../../src/store/embeddedPostgres.js'
import { inclusions, withBooks } from '../support/books.js'
import { commandsOn } from '../support/cliAnswers.js'
import { intentsOf, prepare, send } from '../support/intents.js'
import { result } from '../support/jsonRpc.js'
import { silent } from '../support/logger.js'
import { type PublicChain, startPublicChain } from '../support/publicChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/startPurser.js'
import { until } from '../support/until.js'

/** All points. `npm run test:faults` asks for it. */
const points = [
  'bundle:claimed',
  'bundle:committed',
  'broadcast:before',
  'broadcast:after',
] as const
const chosen = process.env.PURSER_FAULTS === 'full' ? points : (['bundle:committed'] as const)

const chainId = 1_013
const treasuryKey = `0x${'7e'.repeat(32)}` as const
const treasury = privateKeyToAccount(treasuryKey).address
const executor = privateKeyToAccount(devKey(1)).address

let folder: string
let chain: PublicChain
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>
let service: RunningService | undefined
let tenant: { readonly authToken: string; readonly apiKey: string }

const anvil = () =>
  createTestClient({ mode: 'anvil', chain: foundry, transport: http(chain.rpcUrl) }).extend(
    publicActions,
  )

const environment = () => {
  const host = encodeURIComponent(`${folder}/postgres/cluster`)
  const settings = {
    ...{ chainId, rpcUrls: [chain.rpcUrl], pollInterval: 50, resubmitAfter: 600_000 },
    executorKeys: ['env:EXECUTOR'],
    executorMinBalance: '0.1',
    treasury: { key: 'env:TREASURY', refillBelow: '1', refillTo: '3' },
  }
  return {
    DATABASE_URL: `postgresql:///postgres?host=${host}&user=purser`,
    PURSER_MASTER_KEY: '5e'.repeat(32),
    PURSER_CHAINS: JSON.stringify([settings]),
    EXECUTOR: devKey(1),
    TREASURY: treasuryKey,
  }
}

const start = async (fault?: FaultPoint): Promise<RunningService> => {
  const flags = ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0.3']
  service = await startService(flags, {
    ...environment(),
    ...(fault !== undefined && { PURSER_FAULT: fault }),
  })
  return service
}

/** A start whose process dies at `fault`, before or after it says that it is ready. */
const dieAt = async (fault: FaultPoint): Promise<void> => {
  const outcome = await start(fault).catch((error: Error) => error)
  if (outcome instanceof Error) expect(outcome.message).toContain('ended with SIGKILL')
  else expect((await outcome.ended).signal, outcome.output()).toBe('SIGKILL')
}

const info = (): DevInfo => {
  const url = urlOf(service!)
  const path = (version: string) => `${url}/api/${version}/${chainId}/${tenant.apiKey}`
  return {
    ...{ url, chainId, rpcUrl: chain.rpcUrl, pid: process.pid, webhookApiUrl: url },
    ...{ bundlerUrl: path('v2'), paymasterUrl: path('v2'), standardUrl: path('v3') },
    ...{ authToken: tenant.authToken, apiKey: tenant.apiKey },
    ...{ entryPoints: chain.entryPoints, factories: chain.factories, tanks: {}, delegates: {} },
  }
}

const transactionsOf = (address: `0x${string}`) => anvil().getTransactionCount({ address })

beforeAll(async () => {
  folder = makeDataFolder()
  chain = await startPublicChain(chainId)
  postgres = await startEmbeddedPostgres(folder, silent)
  tenant = await commandsOn(folder, environment()).tenant('own transactions')
  await anvil().setBalance({ address: treasury, value: parseEther('100') })
})
afterAll(async () => {
  await service?.end('SIGKILL')
  await postgres?.stop()
  await chain?.stop()
  removeDataFolder(folder)
})

test.each(chosen)('a refill is paid once when the process dies at %s', async (point) => {
  await service?.end('SIGKILL')
  await anvil().setBalance({ address: executor, value: parseEther('0.5') })
  const before = await transactionsOf(treasury)
  await dieAt(point)
  await start()
  await until(async () => (await openTransactions()) === 0 && (await refilled()))
  expect(await transactionsOf(treasury)).toBe(before + 1)
})

const refilled = async () => (await anvil().getBalance({ address: executor })) === parseEther('3')

const openTransactions = (): Promise<number> =>
  withBooks(folder, async (database) => {
    const open = database.selectFrom('bundles').selectAll().where('state', '=', 'signed')
    return (await open.execute()).length
  })

test('a cancellation that dies before it is sent leaves no gap and tells what became of the operation', async () => {
  await service?.end('SIGKILL')
  await anvil().setBalance({ address: executor, value: parseEther('3') })
  await start('resubmission:committed')
  const doomed = service!
  const [intent] = intentsOf('cancelled', 1)
  await prepare(info(), intent!)
  const nonce = await transactionsOf(executor)
  const alreadyIncluded = await inclusions(info())
  await anvil().setAutomine(false)
  const hash = await send(info(), intent!)
  const status = (): Promise<{ state: string }> =>
    result(info().bundlerUrl, 'biconomy_getUserOperationStatus', [hash])
  await until(async () => (await status()).state === 'SUBMITTED')
  await commandsOn(folder, environment()).answer(
    ...['operation', 'cancel', hash, '--chain', String(chainId)],
  )
  expect((await doomed.ended).signal, doomed.output()).toBe('SIGKILL')

  await start()
  // The bytes that were stored are sent: the transaction that does nothing takes the nonce.
  await until(async () => (await pendingOf(executor)).length === 1 && (await isNoop()))
  await anvil().setAutomine(true)
  await anvil().mine({ blocks: 1 })
  await until(async () => (await openTransactions()) === 0)
  expect(await transactionsOf(executor)).toBe(nonce + 1)
  expect(await inclusions(info())).toBe(alreadyIncluded)
  expect(await stateOf(hash)).toEqual({ state: 'dropped', reason_code: 'CANCELLED' })
})

const pendingOf = async (address: string) => {
  const { transactions } = await anvil().getBlock({
    blockTag: 'pending',
    includeTransactions: true,
  })
  return transactions.filter(({ from }) => from === address.toLowerCase())
}

const isNoop = async () => (await pendingOf(executor)).every(({ input }) => input === '0x')

const stateOf = (hash: Hex) =>
  withBooks(folder, (database) =>
    database
      .selectFrom('operations')
      .select(['state', 'reason_code'])
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow(),
  )
