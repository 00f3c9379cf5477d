import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import type { Hex } from 'viem'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { anvilClient } from '../../../src/devnet/anvilClient.js'
import { type PublicChain, startPublicChain } from '../chain/publicChain.js'
import { tankDeposit } from '../database/books.js'
import type { Json } from '../http/jsonRpc.js'
import { commandsOn } from '../service/cliAnswers.js'
import { devAccount } from '../service/devAccount.js'
import { fillTank } from '../service/fillTank.js'
import { type Intent, included, intentsOf, send } from '../service/intents.js'
import { servedChain } from '../service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../service/startPurser.js'
import { until } from '../until.js'
import { type Estate, estateInfo, estateSecrets, inclusionOf, tokenSettings } from './estate.js'
import { deployToken, preparePayment } from './estateToken.js'

const CHAIN_ID = 1_700
/** Operations in each state; every other one is paid by the tank. */
const SIZE = 4
/** Further ones that pay in tokens. A quote holds for two minutes, so those that wait would end with the estate. */
const PAYMENTS = 2
/** Seconds that a tank's signature holds: estates are kept for years. */
const FOR_YEARS = 3_000_000_000

type Leaving = {
  /** A checkout of the commit, built. */
  readonly checkout: string
  readonly commit: string
  /** An empty database on a server that the `pg_dump` on the path can read. */
  readonly databaseUrl: string
  /** Where database, chain and what clients know are written. */
  readonly folder: string
}

/** The build of an earlier commit on a database and a chain. */
type EarlierBuild = {
  readonly chain: PublicChain
  readonly commands: ReturnType<typeof commandsOn>
  readonly serve: (...flags: readonly string[]) => Promise<RunningService>
  readonly query: (text: string) => Promise<Json[]>
}

type Tenant = Pick<
  Estate,
  'chainId' | 'entryPoints' | 'factories' | 'appId' | 'apiKey' | 'authToken' | 'tank'
>

/**
 * Lets a build of an earlier commit serve a tenant with a tank, a policy and a webhook until it has operations in
 * blocks, in transactions that no block has, and in the pool; then ends it and writes down all that it leaves.
 */
export async function leaveEstate({ checkout, commit, databaseUrl, folder }: Leaving) {
  const dataFolder = makeDataFolder()
  const chain = await startPublicChain(CHAIN_ID)
  const token = await deployToken(chain)
  const hook = await startApprovingHook()
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  try {
    const cli = join(checkout, 'dist/cli.js')
    const environment = environmentOn(databaseUrl, servedChain(chain, tokenSettings(token)))
    const flags = ['serve', '--data', dataFolder, '--port', '0', '--drain-seconds', '0']
    const estate = await leaveOperations(
      {
        chain,
        commands: commandsOn(dataFolder, environment, cli),
        serve: (...more) => startService([...flags, ...more], environment, cli),
        query: async (text) => (await database.query(text)).rows,
      },
      hook.url,
      token,
    )
    mkdirSync(folder, { recursive: true })
    const text = JSON.stringify({ commit, ...estate }, undefined, 2)
    writeFileSync(join(folder, 'estate.json'), `${text}\n`)
    writeFileSync(join(folder, 'database.sql.gz'), gzipSync(dump(databaseUrl), { level: 9 }))
    const state = await anvilClient(chain.rpcUrl).dumpState()
    writeFileSync(join(folder, 'chain.json.gz'), Buffer.from(state.slice(2), 'hex'))
  } finally {
    await database.end()
    hook.close()
    await chain.stop()
    removeDataFolder(dataFolder)
  }
}

async function leaveOperations(
  build: EarlierBuild,
  hookUrl: string,
  plainToken: Awaited<ReturnType<typeof deployToken>>,
): Promise<Omit<Estate, 'commit'>> {
  let service = await build.serve()
  const tenant = await openTenant(build)
  const client = () => estateInfo(tenant, build.chain.rpcUrl, urlOf(service))
  const deposit = String(await tankDeposit(client()))
  const policyId = await createPolicy(client(), tenant.appId)
  const webhook = await createWebhook(client(), hookUrl, build, tenant.appId)

  const kind = [build.commands, tenant.appId, tenant.chainId, 'token'] as const
  const token = { ...plainToken, tank: await fillTank(...kind) }
  const [done, sent, waiting] = [
    intentsOf('done', SIZE),
    intentsOf('sent', SIZE),
    intentsOf('waiting', SIZE),
  ]
  for (const intent of [...done, ...sent, ...waiting]) await prepareForYears(client(), intent)
  const paying = intentsOf('in tokens', PAYMENTS)
  for (const intent of paying) intent.op = await preparePayment(client(), intent.seed, token)
  done.push(...paying)
  for (const intent of done) await send(client(), intent)
  const inBlocks = await Promise.all(
    (await included(client(), done)).map((hash) => inclusionOf(client(), hash)),
  )

  await anvilClient(build.chain.rpcUrl).setAutomine(false)
  for (const intent of sent) await send(client(), intent)
  await until(async () => {
    const rows = await build.query(`select from operations where state = 'bundled'`)
    return rows.length === SIZE
  })
  await service.end('SIGTERM')
  service = await build.serve('--role', 'api')
  for (const intent of waiting) await send(client(), intent)
  await service.end('SIGTERM')

  const [last] = await build.query('select max(name) as name from kysely_migration')
  return {
    schema: last.name,
    ...tenant,
    policyId,
    webhook,
    deposit,
    token: { ...token, payments: acknowledgedOf(paying) },
    included: inBlocks,
    bundled: acknowledgedOf(sent),
    pooled: acknowledgedOf(waiting),
  }
}

function acknowledgedOf(intents: readonly Intent[]): Hex[] {
  return intents.flatMap(({ acknowledged }) => acknowledged ?? [])
}

function environmentOn(databaseUrl: string, chain: ReturnType<typeof servedChain>) {
  return {
    ...estateSecrets,
    DATABASE_URL: databaseUrl,
    PURSER_WEBHOOK_ALLOW: '127.0.0.1',
    PURSER_MAX_SPONSORSHIP_SECONDS: String(FOR_YEARS),
    PURSER_CHAINS: JSON.stringify([chain]),
  }
}

/** A tenant by the commands of the build, with a tank. */
async function openTenant({ chain, commands }: EarlierBuild): Promise<Tenant> {
  const { appId, apiKey, authToken } = await commands.tenant('left')
  const tank = await fillTank(commands, appId, chain.chainId)
  const { chainId, entryPoints, factories } = chain
  return { chainId, entryPoints, factories, appId, apiKey, authToken, tank }
}

/** A policy that counts the wei and the operations of the app for ever. */
async function createPolicy({ url, authToken }: DevInfo, appId: string): Promise<string> {
  const limits = [{ wei: '9000000000000000000' }, { count: 1_000 }]
  const budgets = limits.map((limit) => ({ per: 'app', limit, window: 'never' }))
  const response = await fetch(`${url}/admin/v1/policies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${authToken}` },
    body: JSON.stringify({ appId, name: 'left', terms: { budgets } }),
  })
  const body: Json = await response.json()
  if (response.status !== 201) throw new Error(`no policy: ${JSON.stringify(body)}`)
  return body.policyId ?? body.id
}

async function createWebhook(
  { url, authToken, apiKey }: DevInfo,
  webhookUrl: string,
  { commands }: EarlierBuild,
  appId: string,
): Promise<Estate['webhook']> {
  const response = await fetch(`${url}/api/v2/public/sdk/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authToken, apiKey },
    body: JSON.stringify({ webhookUrl, requestType: 'POST' }),
  })
  const body: Json = await response.json()
  if (response.status !== 200) throw new Error(`no webhook: ${JSON.stringify(body)}`)
  const { webhookId } = body.data
  const shown = await commands.answer('webhook', 'secret', webhookId, '--app', appId)
  const secret = /whsec_\S+/.exec(shown)?.[0]
  if (secret === undefined) throw new Error(`no secret in ${shown}`)
  return { webhookId, secret }
}

async function prepareForYears(info: DevInfo, intent: Intent): Promise<void> {
  const account = await devAccount(info, intent.seed)
  intent.op = await (intent.payer === 'self'
    ? account.selfPaid()
    : account.sponsored(undefined, FOR_YEARS))
}

/** A customer's endpoint that approves whatever it is asked. */
async function startApprovingHook() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"arePoliciesVerified":true}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/approve`, close: () => server.close() }
}

/** The database as SQL that any client can run: a line that begins with \ is a word to psql. */
function dump(databaseUrl: string): string {
  const flags = ['--no-owner', '--no-privileges', '--inserts', '--no-comments']
  const text = execFileSync('pg_dump', [...flags, databaseUrl], { encoding: 'utf8' })
  return text.replaceAll(/^\\.*\n/gm, '')
}
