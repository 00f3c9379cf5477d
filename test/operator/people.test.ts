import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Database } from '../../src/db/database.js'
import { checkReadiness } from '../../src/service/checkReadiness.js'
import { audited, listAudit } from '../../src/tenants/audit.js'
import { rewrapSecrets } from '../../src/tenants/masterKey.js'
import { decryptSecret, encryptSecret } from '../../src/tenants/secrets.js'
import { testActor } from '../support/actor.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import type { Json } from '../support/http/jsonRpc.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'

const folder = makeDataFolder()
afterAll(() => removeDataFolder(folder))

describe('a service whose administration has a port of its own', () => {
  const external = useDatabase()
  const password = 'seven grey elephants, walking'
  const operatorToken = 'an-operator-token-of-32-characters-or-more'
  let chain: PublicChain
  let service: RunningService
  let environment: Record<string, string>
  let admin = ''
  beforeAll(async () => {
    chain = await startPublicChain(1_502)
    const { chainId, rpcUrl } = chain
    const own = {
      chainId,
      rpcUrls: [rpcUrl],
      executorKeys: ['env:EXECUTOR'],
      facts: { pollInterval: 50 },
    }
    environment = {
      DATABASE_URL: databaseUrlOf(external()),
      EXECUTOR: devKey(1),
      PURSER_CHAINS: JSON.stringify([own]),
      PURSER_MASTER_KEY: randomBytes(32).toString('hex'),
      PURSER_OPERATOR_TOKEN: operatorToken,
      PURSER_ADMIN_EMAIL: 'First@Example.com',
      PURSER_ADMIN_PASSWORD: password,
      PURSER_ADMIN_LISTEN: '127.0.0.1:0',
      PURSER_LOG_LEVEL: 'trace',
    }
    const args = ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0']
    service = await startService(args, environment)
    admin = /Administration is at (http:\S+)/.exec(service.output())?.[1] ?? ''
  })
  afterAll(async () => {
    await service?.end('SIGTERM')
    await chain?.stop()
  })

  const ask = (url: string, path: string, init: RequestInit = {}) => fetch(`${url}${path}`, init)
  const bearer = { headers: { authorization: `Bearer ${operatorToken}` } }

  test('the public port answers no administration, and shows nobody executors', async () => {
    const open = urlOf(service)
    expect(admin).not.toBe('')
    for (const path of ['/admin/v1/accounts', '/admin/v1/openapi.json', '/metrics']) {
      expect((await ask(open, path, bearer)).status).toBe(404)
      expect((await ask(admin, path, bearer)).status).toBe(200)
    }
    const ready = (await (await ask(open, '/health/ready', bearer)).json()) as Json
    expect(ready.chains[chain.chainId]).not.toHaveProperty('executors')
    const inside = (await (await ask(admin, '/health/ready', bearer)).json()) as Json
    expect(inside.chains[chain.chainId].executors).toHaveLength(1)
    expect((await ask(admin, `/api/v2/${chain.chainId}/none`, { method: 'POST' })).status).toBe(404)
    expect((await ask(open, `/api/v2/${chain.chainId}/none`, { method: 'POST' })).status).not.toBe(
      404,
    )
  })

  test('pages of other origins may use the interface of apps, not the administration', async () => {
    const headers = { origin: 'https://dapp.example', 'access-control-request-method': 'POST' }
    const preflight = { method: 'OPTIONS', headers }
    const api = await ask(urlOf(service), `/api/v2/${chain.chainId}/none`, preflight)
    expect(api.headers.get('access-control-allow-origin')).toBe('*')
    for (const path of ['/admin/v1/session', '/metrics', '/health']) {
      const answer = await ask(admin, path, preflight)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('the first operator of the environment signs in; no secret is in the log', async () => {
    const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    const signIn = (secret: string) =>
      ask(admin, '/admin/v1/session', {
        method: 'POST',
        headers,
        body: JSON.stringify({ email: 'first@example.com', password: secret }),
      })
    expect((await signIn('not this password')).status).toBe(401)
    const begun = await signIn(password)
    expect(begun.status).toBe(201)
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    const { user } = (await begun.json()) as Json
    expect(user).toMatchObject({ email: 'first@example.com', isOperator: true })

    const commands = commandsOn(folder, environment)
    const { accountId } = await commands.tenant('people')
    const answer = (...words: string[]) => commands.answer(...words)
    const where = ['--email', 'dev@example.com', '--account', accountId]
    const invited = await answer('user', 'invite', ...where, '--role', 'developer')
    const token = labelled(invited, 'token')
    const chosen = 'nine blue bicycles in the rain'
    const accepted = await ask(admin, '/admin/v1/invitations/accept', {
      method: 'POST',
      headers,
      body: JSON.stringify({ token, password: chosen }),
    })
    expect(accepted.status).toBe(200)
    expect(await answer('user', 'list')).toContain('dev@example.com')
    // The link leads to the listener of the administration.
    const elsewhere = commandsOn(folder, { ...environment, PURSER_ADMIN_LISTEN: '127.0.0.1:7001' })
    const offered = await elsewhere.answer('user', 'password', 'dev@example.com')
    expect(offered).toContain('at http://localhost:7001/console/setup#')
    const overHttp = commandsOn(folder, { ...environment, PURSER_PUBLIC_URL: 'http://a.example' })
    expect(await overHttp.answer('user', 'password', 'dev@example.com')).toMatch(
      /at http:\/\/localhost:\d+\/console\/setup#/,
    )
    await answer('user', 'disable', 'dev@example.com')
    expect(await commands.refusal('user', 'disable', 'first@example.com')).toContain('the last')
    const made = await answer(
      ...['auth-token', 'create', '--account', accountId, '--name', 'ci', '--role', 'viewer'],
    )
    const authToken = labelled(made, 'authToken')
    const apps = await ask(admin, '/admin/v1/apps', { headers: { authToken } })
    expect(apps.status).toBe(200)
    const log = service.output()
    expect(log).not.toBe('')
    for (const secret of [password, chosen, token, authToken, cookie.split('=')[1] ?? 'no cookie'])
      expect(log).not.toContain(secret)
  })
})

describe('another master key', () => {
  const external = useDatabase()
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const db = (): Database => external().database
  let appId = ''
  beforeAll(async () => {
    appId = await createApp(db())
    await commands(oldKey).answer('account', 'list')
    await store('first', 'second')
  })

  /** The commands of an operator who has this key configured. */
  function commands(key: Buffer) {
    return commandsOn(folder, {
      DATABASE_URL: databaseUrlOf(external()),
      PURSER_MASTER_KEY: key.toString('hex'),
      NEXT_KEY: newKey.toString('hex'),
    })
  }
  const sealed = (purpose: string, text: string) => encryptSecret(oldKey, purpose, text)

  /** A tank, and a webhook and subscription with a second secret, as a service with the old key stores them. */
  async function store(secret: string, previous: string): Promise<void> {
    const two = {
      secret: sealed('webhook signature', secret),
      previous_secret: sealed('webhook signature', previous),
    }
    const url = 'https://dapp.example/'
    await db()
      .insertInto('webhooks')
      .values({ app_id: appId, url, request_type: 'POST', ...two })
      .execute()
    await db()
      .insertInto('event_subscriptions')
      .values({ app_id: appId, url, event_types: ['tank.low'], ...two })
      .execute()
    await db()
      .insertInto('tanks')
      .values({
        app_id: appId,
        chain_id: 1n,
        entry_point: `0x${randomBytes(20).toString('hex')}`,
        kind: 'gas',
        address: `0x${'1'.repeat(40)}`,
        owner: `0x${'2'.repeat(40)}`,
        signer: `0x${'3'.repeat(40)}`,
        signer_key: sealed('tank signer', secret),
      })
      .execute()
  }

  async function secretsBy(key: Buffer): Promise<readonly string[]> {
    const signed = await Promise.all([
      db().selectFrom('webhooks').select(['secret', 'previous_secret']).orderBy('id').execute(),
      db()
        .selectFrom('event_subscriptions')
        .select(['secret', 'previous_secret'])
        .orderBy('id')
        .execute(),
    ])
    const tanks = await db().selectFrom('tanks').select('signer_key').orderBy('id').execute()
    return [
      ...signed
        .flat()
        .flatMap(({ secret, previous_secret }) => [secret, previous_secret ?? Buffer.of()])
        .map((each) => decryptSecret(key, 'webhook signature', each)),
      ...tanks.map(({ signer_key }) => decryptSecret(key, 'tank signer', signer_key)),
    ]
  }

  test('a run that ends before its end changes nothing', async () => {
    const ended = audited(db(), testActor, async (change) => {
      await rewrapSecrets(change, oldKey, newKey)
      throw new Error('killed')
    })
    await expect(ended).rejects.toThrow('killed')
    expect(await secretsBy(oldKey)).toHaveLength(5)
    const strange = audited(db(), testActor, (change) =>
      rewrapSecrets(change, randomBytes(32), newKey),
    )
    await expect(strange).rejects.toThrow('Neither the master key')
    expect(await secretsBy(oldKey)).toHaveLength(5)
  })

  test('encrypts all there is, is the only one from then on, and tells processes with the old one', async () => {
    const before = await secretsBy(oldKey)
    const readiness = async (masterKey: Buffer) =>
      checkReadiness(
        {
          database: db(),
          chains: new Map(),
          away: new Map(),
          isDraining: false,
          masterKey,
          roles: ['api'],
        },
        { chainId: undefined, role: 'api' },
      )
    expect((await readiness(oldKey)).checks['master key']).toBe(true)
    const said = await commands(oldKey).answer('keys', 'rewrap', '--new-key', 'env:NEXT_KEY')
    expect(labelled(said, 'secrets with the new key now')).toBe('5')
    expect(await secretsBy(newKey)).toEqual(before)
    await expect(secretsBy(oldKey)).rejects.toThrow('does not decrypt')
    expect(await commands(oldKey).refusal('account', 'list')).toContain('does not belong')
    const check = await commands(newKey).answer('keys', 'check')
    expect(labelled(check, 'the key of this database')).toBe('true')
    expect(labelled(check, 'secrets that it does not')).toBe('0')
    const reported = await readiness(oldKey)
    expect(reported).toMatchObject({ ready: false, checks: { 'master key': false } })
    expect(reported.reasons.join()).toContain('restart this process')
    expect((await readiness(newKey)).checks['master key']).toBe(true)
  })

  test('run once more it takes what a process with the old key stored since', async () => {
    await store('third', 'fourth')
    const said = await commands(oldKey).answer('keys', 'rewrap', '--new-key', 'env:NEXT_KEY')
    expect(labelled(said, 'secrets with the new key now')).toBe('5')
    expect(labelled(said, 'secrets that had it already')).toBe('5')
    expect(await secretsBy(newKey)).toHaveLength(10)
    const { items } = await listAudit(db(), undefined, { limit: 10, before: undefined })
    const rewraps = items.filter(({ action }) => action === 'keys.rewrap')
    expect(rewraps).toHaveLength(2)
    expect(JSON.stringify(rewraps.map(({ after }) => after))).not.toContain(newKey.toString('hex'))
  })
})
