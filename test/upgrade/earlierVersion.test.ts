import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { toInterfaceOperation } from '../../src/devnet/simpleAccount.js'
import { type Anvil, startAnvil } from '../../src/devnet/startAnvil.js'
import { clientConfig } from '../../src/store/database.js'
import { newestMigration } from '../../src/store/migrate.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/store/postgres/embeddedPostgres.js'
import { expectBalancedBooks, paidByTank, withBooks } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { useWebhookServer } from '../support/http/webhookServer.js'
import { silent } from '../support/logger.js'
import { adminGet } from '../support/service/adminGet.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { tokensOf } from '../support/service/devTokens.js'
import { servedChain } from '../support/service/servedChain.js'
import { serveEnvironment } from '../support/service/serving.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'
import {
  type Estate,
  estateFolder,
  estateInfo,
  estateSecrets,
  inclusionOf,
  readEstate,
  tokenSettings,
} from '../support/upgrade/estate.js'
import { preparePayment } from '../support/upgrade/estateToken.js'
import { leaveEstate } from '../support/upgrade/leaveEstate.js'

const { PURSER_ESTATE, PURSER_EARLIER, PURSER_EARLIER_COMMIT, PURSER_EARLIER_DATABASE } =
  process.env
const hook = useWebhookServer()

/** test/README.md says how an estate is made. */
const estates = [
  ['0050', 'the last schema before migrations that need all processes stopped'],
  ['0155', 'the last schema before bundles went to relays'],
  ['0166', 'the schema before the newest'],
] as const

describe.each(estates)('what a build with schema %s left (%s)', (name) => {
  let estate: Estate
  let folder: string
  let chain: Anvil
  let postgres: EmbeddedPostgres
  let service: RunningService
  const info = (): DevInfo => estateInfo(estate, chain.rpcUrl, urlOf(service))
  /** Of the estate, by the build that left it. */
  const acknowledged = (): Hex[] => [
    ...estate.included.map(({ userOpHash }) => userOpHash),
    ...estate.bundled,
    ...estate.pooled,
  ]

  /** Those that paid in tokens. */
  const payments = (): readonly Hex[] => estate.token?.payments ?? []

  beforeAll(async () => {
    if (PURSER_ESTATE === name)
      await leaveEstate({
        checkout: PURSER_EARLIER ?? '',
        commit: PURSER_EARLIER_COMMIT ?? '',
        databaseUrl: PURSER_EARLIER_DATABASE ?? '',
        folder: estateFolder(name),
      })
    const left = readEstate(name)
    estate = left.estate
    folder = makeDataFolder()
    writeFileSync(join(folder, `chain-${estate.chainId}.state.json`), left.chain)
    chain = await startAnvil({ chainId: estate.chainId, dataDir: folder, logger: silent })
    postgres = await startEmbeddedPostgres(folder, silent)
    const session = new pg.Client(clientConfig(postgres.connection))
    await session.connect()
    await session.query(left.database)
    await session.end()
    const taken = estate.token === undefined ? {} : tokenSettings(estate.token)
    const own = servedChain({ ...estate, rpcUrl: chain.rpcUrl }, taken)
    service = await startService(
      ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0'],
      {
        ...serveEnvironment(folder, own, estateSecrets),
        PURSER_WEBHOOK_ALLOW: '127.0.0.1',
        // However old the estate is when the test runs.
        PURSER_OPERATION_RETENTION_DAYS: '36500',
      },
    )
  })
  afterAll(async () => {
    await service?.end('SIGTERM')
    await postgres?.stop()
    await chain?.stop()
    removeDataFolder(folder)
  })

  test('is brought to the newest schema; each acknowledged operation is included, once', async () => {
    expect(estate.schema).toMatch(name)
    const { rows } = await withBooks(folder, (database) =>
      sql`select max(name) as name from kysely_migration`.execute(database),
    )
    expect(rows).toEqual([{ name: newestMigration }])

    const { included, bundled, pooled } = estate
    const ended = 4 + payments().length
    expect([included.length, bundled.length, pooled.length]).toEqual([ended, 4, 4])
    for (const inclusion of included)
      expect(await inclusionOf(info(), inclusion.userOpHash)).toEqual(inclusion)
    for (const hash of [...bundled, ...pooled])
      expect(await receiptOf(info(), hash)).toMatchObject({ success: 'true' })
  })

  test('its API key, tank, policy and webhook sponsor an operation', async () => {
    // The receiver listens elsewhere than when the estate was made.
    await withBooks(folder, (database) =>
      database.updateTable('webhooks').set({ url: hook.url() }).execute(),
    )
    const { account, withGas, sign, send } = await devAccount(info(), 'after the upgrade')
    const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
    const draft = withGas(await account.draft({ to: TARGET }), fees)
    const answer = await result(info().paymasterUrl, 'pm_sponsorUserOperation', [
      toInterfaceOperation(draft),
      {
        mode: 'SPONSORED',
        calculateGasLimits: true,
        sponsorshipInfo: { webhookData: { order: 7 } },
      },
    ])
    expect(answer.paymasterAndData).toMatch(new RegExp(`^${estate.tank}`, 'i'))
    const [call] = hook.calls
    const verified = new Webhook(estate.webhook.secret).verify(
      call?.body ?? '',
      call?.headers as Record<string, string>,
    )
    expect(verified).toEqual({ data: { order: 7 } })

    const data: Hex = answer.paymasterAndData
    const op = await sign({
      ...withGas(draft, answer),
      paymaster: estate.tank,
      paymasterData: `0x${data.slice(42)}`,
    })
    const selfPaid = await devAccount(info(), 'pays after the upgrade')
    for (const hash of [await send(op), await selfPaid.send(await selfPaid.selfPaid())])
      expect(await receiptOf(info(), hash)).toMatchObject({ success: 'true' })
  })

  test('its books of tokens equal the chain, and its token tank goes on', async ({ skip }) => {
    const { token } = estate
    if (token === undefined) return skip('none of its operations paid in tokens')
    expect(acknowledged()).toEqual(expect.arrayContaining([...payments()]))
    const booked = (count: number) =>
      until(async () => {
        const { items } = await adminGet(info(), `/apps/${estate.appId}/tokens`)
        return items[0]?.payments === count && items
      })
    const collected = (units: bigint) => ({
      token: token.address,
      tank: token.tank,
      collected: String(units),
      held: String(units),
      missed: 0,
      lost: '0',
    })
    const before = await tokensOf(info(), token, token.tank)
    expect(await booked(payments().length)).toMatchObject([collected(before)])

    const op = await preparePayment(info(), 'pays in tokens after the upgrade', token)
    const { send } = await devAccount(info(), 'pays in tokens after the upgrade')
    expect(await receiptOf(info(), await send(op))).toMatchObject({ success: 'true' })
    const after = await tokensOf(info(), token, token.tank)
    expect(after).toBeGreaterThan(before)
    expect(await booked(payments().length + 1)).toMatchObject([collected(after)])
  })

  test('its books equal the chain, to the wei, and its budget counts what the tank paid', async () => {
    await expectBalancedBooks(folder, info(), acknowledged(), BigInt(estate.deposit))
    const { chain: paid, books } = await paidByTank(folder, info())
    const ofEstate = paid.filter(({ hash }) => acknowledged().includes(hash))
    expect(ofEstate).toHaveLength((acknowledged().length - payments().length) / 2)
    expect(books).toEqual(paid)
    const cost = paid.reduce((sum, each) => sum + each.cost, 0n)
    const { items } = await adminGet(info(), `/policies/${estate.policyId}/budgets`)
    const subject = estate.appId
    expect(items).toMatchObject([
      { unit: 'wei', subjects: [{ subject, settled: String(cost) }] },
      { unit: 'count', subjects: [{ subject, used: String(paid.length) }] },
    ])
  })
})
