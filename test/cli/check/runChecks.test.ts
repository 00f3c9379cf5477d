import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNetworkGuard, loopback } from '../../../src/base/outbound/networkGuard.js'
import type { Finding } from '../../../src/cli/check/finding.js'
import { runChecks } from '../../../src/cli/check/runChecks.js'
import { deployDevContracts } from '../../../src/cli/devnet/deployDevContracts.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { devTokens } from '../../../src/cli/devnet/devTokens.js'
import { requireMasterKey } from '../../../src/tenants/masterKey.js'
import { createWebhooks } from '../../../src/webhooks/manage.js'
import { testActor } from '../../support/actor.js'
import { startChangedNode } from '../../support/chain/changedNode.js'
import { type Anvil, startAnvil } from '../../support/chain/startAnvil.js'
import { policiesOn } from '../../support/database/policiesOn.js'
import { chainId, useChain } from '../../support/chain/useChain.js'
import { startKeyService } from '../../support/http/keyService.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { databaseUrlOf } from '../../support/database/databaseUrl.js'
import { silent } from '../../support/logger.js'
import { makeDataFolder, removeDataFolder, runCli } from '../../support/service/startPurser.js'

/* Real parts: chains, a database with a tenant, nodes that differ from the real one in one answer. */

const chain = useChain()
const postgres = useDatabase()
const masterKey = '5e'.repeat(32)
const [token] = devTokens

type Environment = Readonly<Record<string, string>>
type Settings = Readonly<Record<string, unknown>>

let folder: string
let other: Anvil

beforeAll(async () => {
  folder = makeDataFolder()
  // Another gas limit is another block 0, also where both chains begin in one second.
  other = await startAnvil(['--chain-id', String(chainId), '--gas-limit', '29000000'])
  await deployDevContracts(other.url)
  const { database } = postgres()
  const place = { configured: masterKey, dataFolder: folder }
  const key = await requireMasterKey(database, place)
  const appId = await createApp(database)
  const guard = createNetworkGuard(loopback)
  const webhooks = createWebhooks({ database, masterKey: key, guard, actor: testActor })
  await webhooks.create(appId, { webhookUrl: 'http://127.0.0.1:9/', requestType: 'POST' })
})
afterAll(async () => {
  await other.stop()
  removeDataFolder(folder)
})

/** The configuration of the chain with `settings`, as the environment gives it. */
function environmentOf(settings: Settings = {}, others: Environment = {}): Environment {
  const own = { chainId, rpcUrls: [chain().rpcUrl], executorKeys: ['env:EXECUTOR'] }
  return {
    DATABASE_URL: databaseUrlOf(postgres()),
    PURSER_MASTER_KEY: masterKey,
    PURSER_DATA: folder,
    PURSER_CHAINS: JSON.stringify([{ ...own, ...settings }]),
    PURSER_WEBHOOK_ALLOW: '127.0.0.1',
    EXECUTOR: devKey(1),
    ...others,
  }
}

function check(environment: Environment, file?: string): Promise<readonly Finding[]> {
  return runChecks({ sources: { flags: {}, environment, file }, logger: silent })
}

function faultsOf(findings: readonly Finding[]) {
  return findings
    .filter(({ level }) => level === 'fault')
    .map(({ group, text, remedy }) => ({ group, text, remedy }))
}

function relayAt(url: string, others: Settings = {}): Settings {
  return { sending: { way: 'private', url, publicAfter: 25, ...others } }
}

function tokenAt(price: unknown, decimals = token?.decimals): Settings {
  return { tokens: [{ address: token?.address, symbol: 'tUSD', decimals, sources: [price] }] }
}

/** In front of the chain's node: answers to `method` are changed. */
async function withNode<Result>(
  method: string,
  change: (params: unknown[], answer: { result?: unknown }, batch: number) => unknown,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const node = await startChangedNode(chain().rpcUrl, (asked, params, answer, batch) =>
    asked === method ? change(params, answer, batch) : answer,
  )
  try {
    return await use(node.url)
  } finally {
    await node.stop()
  }
}

function refused(answer: { result?: unknown }, code: number, message: string) {
  const { result: _, ...rest } = answer
  return { ...rest, error: { code, message } }
}

test('a sound configuration has no fault, and what was looked at is as it was', async () => {
  const before = await stateOf()
  const findings = await check(environmentOf(tokenAt({ fixed: '3000' })))
  expect(faultsOf(findings)).toEqual([])
  const groups = new Set(findings.filter(({ level }) => level === 'ok').map(({ group }) => group))
  const looked = ['configuration', 'database', 'keys', 'nodes', 'contracts', 'money', 'prices']
  expect([...groups].sort()).toEqual([...looked, 'webhooks'].sort())
  expect(await stateOf()).toEqual(before)
})

test('an app whose tank pays senders without bound is named, until its policies bound each', async () => {
  const { database } = postgres()
  const appId = await createApp(database)
  const place = { app_id: appId, chain_id: BigInt(chainId), kind: 'gas' } as const
  const account = { owner: devKey(1), signer: devKey(2), signer_key: Buffer.alloc(1) }
  const address = `0x${'7a'.repeat(20)}` as const
  const entry_point = chain().entryPoint.address
  await database
    .insertInto('tanks')
    .values({ ...place, ...account, entry_point, address })
    .execute()
  const { account_id: accountId } = await database
    .selectFrom('apps')
    .select('account_id')
    .where('id', '=', appId)
    .executeTakeFirstOrThrow()
  const warned = async () =>
    (await check(environmentOf())).some(
      ({ level, text }) => level === 'warning' && text.includes(`app ${appId} has a tank, and its`),
    )
  const add = (owner: string | null, per: string) =>
    policiesOn(database).create(accountId, { appId: owner, name: 'x', terms: budget(per) })
  const budget = (per: string) => ({ budgets: [{ per, limit: { wei: '1' }, window: 'day' }] })
  expect(await warned()).toBe(true)
  await add(appId, 'sender')
  expect(await warned()).toBe(false)
  await add(appId, 'app')
  expect(await warned()).toBe(true)
  await add(null, 'sender')
  expect(await warned()).toBe(false)
  await database.deleteFrom('tanks').where('app_id', '=', appId).execute()
})

test('before the first start nothing is made: no folder, no database, no key', async () => {
  const data = join(folder, 'not', 'there')
  const { DATABASE_URL: _, PURSER_MASTER_KEY: __, ...environment } = environmentOf()
  expect(faultsOf(await check({ ...environment, PURSER_DATA: data }))).toEqual([])
  expect(existsSync(data)).toBe(false)
})

/** The chain's head, its pool, and the content of the database. */
async function stateOf() {
  const { node } = chain()
  const { database } = postgres()
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_stat_user_tables order by 1`.execute(database)
  const contents = await Promise.all(
    rows.map(async ({ name }) => {
      const content = sql<{ hash: string }>`
        select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash
        from ${sql.table(name)} as t`
      return [name, (await content.execute(database)).rows[0]?.hash]
    }),
  )
  return { head: await node.head(), pool: await node.request('txpool_status', []), contents }
}

describe('a broken configuration names its one fault', () => {
  const broken: Readonly<
    Record<string, () => { group: string; fault: RegExp; found: Promise<readonly Finding[]> }>
  > = {
    'a setting that does not exist': () => {
      const file = join(folder, 'odd.json')
      writeFileSync(file, '{"chians": []}')
      return { group: 'configuration', fault: /chians/, found: check(environmentOf(), file) }
    },
    'a preset that the chain id contradicts': () => ({
      group: 'configuration',
      fault: /not that of the preset/,
      found: check(environmentOf({ preset: 'base' })),
    }),
    'debug methods for everybody': () => ({
      group: 'configuration',
      fault: /listen on 127\.0\.0\.1, not on 0\.0\.0\.0/,
      found: check({ ...environmentOf(), PURSER_DEBUG_METHODS: 'true', PURSER_HOST: '0.0.0.0' }),
    }),
    'a first user without password': () => ({
      group: 'configuration',
      fault: /belong together/,
      found: check({ ...environmentOf(), PURSER_ADMIN_EMAIL: 'a@b.example' }),
    }),
    'several processes without a database server': () => ({
      group: 'configuration',
      fault: /--processes needs a database server/,
      found: check({ ...environmentOf(), DATABASE_URL: '', PURSER_PROCESSES: '2' }),
    }),
    'a node of another chain': () => ({
      group: 'nodes',
      fault: /serves chain 1$/,
      found: withNode(
        'eth_chainId',
        (_, answer) => ({ ...answer, result: '0x1' }),
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a node that is away': () => ({
      group: 'nodes',
      fault: /127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/,
      found: check(environmentOf({ rpcUrls: ['http://127.0.0.1:1/v2/secret-key'] })),
    }),
    'nodes of two chains with one id': () => ({
      group: 'nodes',
      fault: /have different blocks 0/,
      found: check(
        environmentOf({ rpcUrls: [chain().rpcUrl, other.url], facts: { finalityDepth: 9_999 } }),
      ),
    }),
    'a node without state overrides': () => ({
      group: 'nodes',
      fault: /does not apply state overrides/,
      found: withNode(
        'eth_call',
        (params, answer) =>
          JSON.stringify(params[2] ?? '').includes('602a5f52')
            ? { ...answer, result: '0x' }
            : answer,
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a chain without base fee': () => ({
      group: 'nodes',
      fault: /have no base fee.*Purser sends no others/,
      found: withNode(
        'eth_getBlockByNumber',
        (_, answer) => {
          const { baseFeePerGas: __, ...block } = Object(answer.result)
          return answer.result ? { ...answer, result: block } : answer
        },
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a node that gives no logs of a block': () => ({
      group: 'nodes',
      fault: /does not return logs by block hash/,
      found: withNode(
        'eth_getLogs',
        ([filter], answer) =>
          'blockHash' in Object(filter) ? refused(answer, -32602, 'no blockHash here') : answer,
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a provider that takes small batches': () => ({
      group: 'nodes',
      fault: /answers batches of JSON-RPC requests, but not of 100$/,
      found: withNode(
        'eth_chainId',
        (_, answer, size) => (size > 10 ? refused(answer, -32005, 'at most 10') : answer),
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a node that takes no transactions': () => ({
      group: 'nodes',
      fault: /takes no transactions/,
      found: withNode(
        'eth_sendRawTransaction',
        (_, answer) => refused(answer, -32601, 'the method does not exist'),
        (url) => check(environmentOf({ rpcUrls: [url] })),
      ),
    }),
    'a relay that is away': () => ({
      group: 'nodes',
      fault: /127\.0\.0\.1:1 does not answer: .*bundles are sent publicly after 25 blocks/,
      found: check(environmentOf(relayAt('http://127.0.0.1:1/secret-key'))),
    }),
    'a relay that is none': () => ({
      group: 'nodes',
      fault: /does not know eth_sendPrivateTransaction/,
      found: check(environmentOf(relayAt(chain().rpcUrl))),
    }),
    "an executor's key that signs for a relay": () => ({
      group: 'nodes',
      fault: /sending\.authKey is the key of 0x70997970\w+, which holds funds/,
      found: check(
        environmentOf(
          relayAt(chain().rpcUrl, { method: 'eth_sendRawTransaction', authKey: 'env:EXECUTOR' }),
        ),
      ),
    }),
    'a stack whose predeploys are absent': () => ({
      group: 'contracts',
      fault: /no contract at 0x42.*dataFee opStack/,
      found: check(environmentOf({ facts: { dataFee: 'opStack' } })),
    }),
    'a floor price of calldata that is denied': () => ({
      group: 'nodes',
      fault: /has the floor price of calldata \(EIP-7623\).*denies: set it to true$/,
      found: check(environmentOf({ facts: { calldataFloor: false } })),
    }),
    'an EntryPoint with other code': () => ({
      group: 'contracts',
      fault: /has different code/,
      found: check(
        environmentOf({ entryPoints: [{ version: '0.7', address: chain().entryPoint.address }] }),
      ),
    }),
    'a key that is not in the environment': () => ({
      group: 'keys',
      fault: /EXECUTOR must hold a private key/,
      found: check(environmentOf({}, { EXECUTOR: '' })),
    }),
    'one key for two executors': () => ({
      group: 'keys',
      fault: /two executorKeys are the key of 0x/,
      found: check(environmentOf({ executorKeys: ['env:EXECUTOR', 'env:EXECUTOR'] })),
    }),
    'another master key': () => ({
      group: 'keys',
      fault: /does not decrypt 1 of 1 secrets/,
      found: check(environmentOf({}, { PURSER_MASTER_KEY: '6f'.repeat(32) })),
    }),
    'an executor without money': () => ({
      group: 'money',
      fault: /executor 0x\w+ has 0 ETH$/,
      found: check(environmentOf({}, { EXECUTOR: `0x${'11'.repeat(32)}` })),
    }),
    'bundles larger than a block': () => ({
      group: 'nodes',
      fault:
        /has blocks of 30000000 gas, less than facts.maxBundleGas 30000001: set it to 30000000 or less$/,
      found: check(environmentOf({ facts: { maxBundleGas: 30_000_001 } })),
    }),
    'tips of Linea on another chain': () => ({
      group: 'nodes',
      fault: /does not publish a minimum tip in its headers. Correct facts.minimumTip$/,
      found: check(environmentOf({ facts: { minimumTip: 'linea' } })),
    }),
    'a token with other decimals than its contract': () => ({
      group: 'prices',
      fault: /tUSD has no reliable price: its contract has 6 decimals, 18 are configured/,
      found: check(environmentOf(tokenAt({ fixed: '3000' }, 18))),
    }),
    'a price source that is away': () => ({
      group: 'prices',
      fault: /tUSD has no reliable price: 0 of 1 price sources answer/,
      found: check(environmentOf(tokenAt({ http: { url: 'http://127.0.0.1:1/', path: 'usd' } }))),
    }),
    'a price of the coin without an answer': () => ({
      group: 'prices',
      fault: /USD has no reliable price: 0 of 1 price sources answer/,
      found: check(
        environmentOf({
          usdPrice: { sources: [{ http: { url: 'http://127.0.0.1:1/', path: 'usd' } }] },
        }),
      ),
    }),
    'a database that is not there': () => ({
      group: 'database',
      fault: /cannot be used: .*nowhere/,
      found: check(environmentOf({}, { DATABASE_URL: databaseUrlOf(postgres(), 'nowhere') })),
    }),
    'a network for webhooks that is none': () => ({
      group: 'webhooks',
      fault: /webhookAllow: 10\.0\.0\.0\/99 is not a CIDR block/,
      found: check(environmentOf({}, { PURSER_WEBHOOK_ALLOW: '10.0.0.0/99' })),
    }),
  }

  test.each(Object.entries(broken))('%s', async (_, make) => {
    const { group, fault, found } = make()
    const faults = faultsOf(await found)
    expect(faults).toEqual([
      { group, text: expect.stringMatching(fault), remedy: expect.any(String) },
    ])
    expect(JSON.stringify(faults)).not.toContain('secret-key')
  })

  test('a schema of a newer version', async () => {
    const { database } = postgres()
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', 'x')`.execute(
      database,
    )
    const faults = faultsOf(await check(environmentOf()))
    await sql`delete from kysely_migration where name = '9999-later'`.execute(database)
    expect(faults).toEqual([
      expect.objectContaining({
        group: 'database',
        text: expect.stringContaining('newer version'),
      }),
    ])
  })
})

test('what works but should be known is a warning: open files, a webhook in a closed network', async () => {
  const file = join(folder, 'open.json')
  const own = { chainId, rpcUrls: [chain().rpcUrl], executorKeys: [devKey(1)] }
  writeFileSync(file, JSON.stringify({ chains: [own] }))
  chmodSync(file, 0o644)
  const { PURSER_CHAINS: _, PURSER_WEBHOOK_ALLOW: __, ...environment } = environmentOf()
  const findings = await check(environment, file)
  expect(faultsOf(findings)).toEqual([])
  const warnings = findings.filter(({ level }) => level === 'warning').map(({ text }) => text)
  expect(warnings).toContainEqual(expect.stringContaining(`${file} holds secrets`))
  expect(warnings).toContainEqual(expect.stringContaining('127.0.0.1:9: the URL must be https'))
  expect(JSON.stringify(findings)).not.toContain(devKey(1))
})

test('what a node lacks that can be done without is a warning, with what follows from it', async () => {
  type Change = Parameters<typeof withNode>[1]
  const unchanged: Change = (_, answer) => answer
  /** The warnings about a node whose answers to `method` are changed. */
  const lacking = async (
    settings: Settings,
    method = 'eth_call',
    change = unchanged,
    heads: readonly string[] = [],
  ) => {
    const found = await withNode(method, change, (url) =>
      check(environmentOf({ ...settings, rpcUrls: [url, ...heads] })),
    )
    expect(faultsOf(found)).toEqual([])
    const isWarning = ({ level, group }: Finding) => level === 'warning' && group === 'nodes'
    return found.filter(isWarning).map(({ text }) => text.replace(/^\S+ /, ''))
  }
  const blind = await lacking({}, 'eth_call', (params, answer) =>
    params.length > 3 ? refused(answer, -32602, 'too many') : answer,
  )
  expect(blind).toEqual([expect.stringMatching(/^supports no block overrides in eth_call/)])

  const narrow = await lacking({}, 'eth_getLogs', ([filter], answer) =>
    'blockHash' in Object(filter) ? answer : refused(answer, -32005, 'only 10 blocks'),
  )
  expect(narrow).toEqual([expect.stringMatching(/^refuses logs of \d+ blocks: only 10 blocks/)])

  const promised = { facts: { preconfirmations: true } }
  const silentNode = await lacking(promised, 'eth_getBlockByNumber', ([block], answer) =>
    block === 'pending' ? { ...answer, result: null } : answer,
  )
  expect(silentNode).toEqual([expect.stringMatching(/^serves no pending block/)])
  expect(await lacking(promised)).toEqual([])

  const announced = (url: string) => lacking({}, 'eth_call', unchanged, [url])
  const deaf = await announced('ws://127.0.0.1:1/secret-key')
  expect(deaf).toEqual([expect.stringMatching(/^does not announce new heads: .*ECONNREFUSED/)])
  expect(await announced(chain().rpcUrl.replace('http', 'ws'))).toEqual([])
})

test('the command: a line for each finding, JSON on demand, exit code 1 for a fault', async () => {
  const sound = await runCli(['check'], environmentOf())
  expect(sound).toMatchObject({ code: 0, stderr: '' })
  expect(sound.stdout).toMatch(/^ok {5}configuration: chains 31337$/m)
  const faulty = await runCli(['check', '--json'], environmentOf({ facts: { dataFee: 'scroll' } }))
  expect(faulty.code).toBe(1)
  const { ok, findings } = JSON.parse(faulty.stdout) as { ok: boolean; findings: Finding[] }
  expect(ok).toBe(false)
  expect(faultsOf(findings)).toHaveLength(1)
  const unknown = await runCli(['check', '--chain', '5'], environmentOf())
  expect(unknown).toMatchObject({ code: 1, stdout: '' })
  expect(unknown.stderr).toContain('Chain 5 is not configured')
})

test('a chain whose blocks become final later than configured is a warning with the figures', async () => {
  const findings = await withNode(
    'eth_getBlockByNumber',
    ([block], answer) =>
      block === 'finalized'
        ? { ...answer, result: { ...Object(answer.result), number: '0x0' } }
        : answer,
    (url) => check(environmentOf({ rpcUrls: [url], facts: { finalityDepth: 0 } })),
  )
  expect(faultsOf(findings)).toEqual([])
  const texts = findings.filter(({ level }) => level === 'warning').map(({ text }) => text)
  expect(texts).toContainEqual(
    expect.stringMatching(
      /own finality is \d+ blocks behind its head, and facts.finalityDepth is 0$/,
    ),
  )
})

test('each service of each key is proven by a signature', async () => {
  const service = await startKeyService(devKey(3))
  try {
    const credentials = {
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'session',
      AZURE_TENANT_ID: '00000000-0000-0000-0000-000000000001',
      AZURE_CLIENT_ID: 'client',
      AZURE_CLIENT_SECRET: 'secret',
      AZURE_AUTHORITY_HOST: service.url,
      PROXY: 'Basic secret',
    }
    const publicKey = privateKeyToAccount(devKey(3)).publicKey.replace('0x04', '0x')
    const anyOf = [
      { kms: { keyId: 'alias/executor', region: 'eu-central-1', endpoint: service.url } },
      { azure: { keyId: `${service.url}keys/executor/v1` } },
      { web3signer: { url: service.url, publicKey, authorization: 'env:PROXY' } },
    ]
    // A node with unlocked accounts, as any other signer that serves eth_signTransaction.
    const address = privateKeyToAccount(devKey(1)).address
    const jsonRpc = { url: chain().rpcUrl, address, eip7702: true }
    const environment = environmentOf({ executorKeys: [{ anyOf }, { jsonRpc }] }, credentials)
    const keysOf = async () =>
      (await check(environment))
        .filter((finding) => finding.group === 'keys' && finding.chainId === chainId)
        .map(({ text }) => text)
    const found = await keysOf()
    expect(found).toEqual([expect.stringMatching(/^executors 0x\w{40}, 0x\w{40} sign$/)])
    expect(service.asked.filter((each) => /Sign$|sign/.test(each))).toHaveLength(3 * 2)
    service.mode = 'revoked'
    expect(await keysOf()).toEqual([
      expect.stringContaining('AccessDeniedException'),
      expect.stringContaining('Forbidden'),
      expect.stringContaining('HTTP 404'),
    ])
    const unable = { executorKeys: [{ jsonRpc: { ...jsonRpc, eip7702: false } }] }
    expect((await check(environmentOf(unable))).map(({ text }) => text)).toContain(
      `executor ${address.toLowerCase()} sends no operation with EIP-7702`,
    )
    expect(service.refused).toEqual([])
  } finally {
    await service.stop()
  }
})
