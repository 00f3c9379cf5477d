import { createTestClient, type Hex, http, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FaultPoint } from '../../src/base/faults.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { inclusions, withBooks } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'

/** All points. `npm run test:faults` asks for it. */
const points = [
  'bundle:claimed',
  'bundle:committed',
  'broadcast:before',
  'broadcast:after',
] as const
const chosen = process.env.PURSER_FAULTS === 'full' ? points : (['bundle:committed'] as const)

const treasuryKey = `0x${'7e'.repeat(32)}` as const
const treasury = privateKeyToAccount(treasuryKey).address
const executor = privateKeyToAccount(devKey(1)).address

let serving: Serving
beforeAll(async () => {
  serving = await prepareServing(
    1_013,
    async () => ({
      facts: { resubmitAfter: 600_000 },
      executorMinBalance: '0.1',
      treasury: { key: 'env:TREASURY', refillBelow: '1', refillTo: '3' },
    }),
    { TREASURY: treasuryKey },
  )
  await anvil().setBalance({ address: treasury, value: parseEther('100') })
})
afterAll(() => serving?.stop())

function anvil() {
  const transport = http(serving.chain.rpcUrl)
  return createTestClient({ mode: 'anvil', chain: foundry, transport }).extend(publicActions)
}

/** A start whose process dies at `fault`, before or after it says that it is ready. */
async function dieAt(fault: FaultPoint): Promise<void> {
  const outcome = await serving.start({ PURSER_FAULT: fault }).catch((error: Error) => error)
  if (outcome instanceof Error) expect(outcome.message).toContain('ended with SIGKILL')
  else expect((await outcome.ended).signal, outcome.output()).toBe('SIGKILL')
}

function transactionsOf(address: `0x${string}`) {
  return anvil().getTransactionCount({ address })
}

test.each(chosen)('a refill is paid once when the process dies at %s', async (point) => {
  await anvil().setBalance({ address: executor, value: parseEther('0.5') })
  const before = await transactionsOf(treasury)
  await dieAt(point)
  await serving.start()
  await until(async () => (await openTransactions()) === 0 && (await refilled()))
  expect(await transactionsOf(treasury)).toBe(before + 1)
})

async function refilled() {
  return (await anvil().getBalance({ address: executor })) === parseEther('3')
}

function openTransactions(): Promise<number> {
  return withBooks(serving.folder, async (database) => {
    const open = database.selectFrom('bundles').selectAll().where('state', '=', 'signed')
    return (await open.execute()).length
  })
}

test('a cancellation that dies before it is sent leaves no gap and tells what became of the operation', async () => {
  await anvil().setBalance({ address: executor, value: parseEther('3') })
  const doomed = await serving.start({ PURSER_FAULT: 'resubmission:committed' })
  const [intent] = intentsOf('cancelled', 1)
  await prepare(serving.info(), intent!)
  const nonce = await transactionsOf(executor)
  const alreadyIncluded = await inclusions(serving.info())
  await anvil().setAutomine(false)
  const hash = await send(serving.info(), intent!)
  const status = (): Promise<{ state: string }> =>
    result(serving.info().bundlerUrl, 'biconomy_getUserOperationStatus', [hash])
  await until(async () => (await status()).state === 'SUBMITTED')
  await serving.commands.answer(
    'operation',
    'cancel',
    hash,
    '--chain',
    String(serving.chain.chainId),
  )
  expect((await doomed.ended).signal, doomed.output()).toBe('SIGKILL')

  await serving.start()
  // The bytes that were stored are sent: the transaction that does nothing takes the nonce.
  await until(async () => (await pendingOf(executor)).length === 1 && (await isNoop()))
  await anvil().setAutomine(true)
  await anvil().mine({ blocks: 1 })
  await until(async () => (await openTransactions()) === 0)
  expect(await transactionsOf(executor)).toBe(nonce + 1)
  expect(await inclusions(serving.info())).toBe(alreadyIncluded)
  expect(await stateOf(hash)).toEqual({ state: 'dropped', reason_code: 'CANCELLED' })
})

async function pendingOf(address: string) {
  const { transactions } = await anvil().getBlock({
    blockTag: 'pending',
    includeTransactions: true,
  })
  return transactions.filter(({ from }) => from === address.toLowerCase())
}

async function isNoop() {
  return (await pendingOf(executor)).every(({ input }) => input === '0x')
}

function stateOf(hash: Hex) {
  return withBooks(serving.folder, (database) =>
    database
      .selectFrom('operations')
      .select(['state', 'reason_code'])
      .where('hash', '=', hash)
      .executeTakeFirstOrThrow(),
  )
}
