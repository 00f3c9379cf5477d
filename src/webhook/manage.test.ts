import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../test/support/createApp.js'
import { useDatabase } from '../../test/support/database.js'
import { InvalidParamsError } from '../errors/requestErrors.js'
import { WebhookLimitError } from '../errors/webhookErrors.js'
import { decryptSecret } from '../tenancy/secrets.js'
import { createWebhooks, type Webhooks } from './manage.js'
import { createNetworkGuard, loopback } from './networkGuard.js'
import { secretPurpose } from './signature.js'

const testDatabase = useDatabase()
const database = () => testDatabase().database
const masterKey = randomBytes(32)

let webhooks: Webhooks
let appId = ''
let otherAppId = ''

beforeEach(async () => {
  webhooks = createWebhooks({
    database: database(),
    masterKey,
    guard: createNetworkGuard(loopback),
  })
  appId = await createApp(database())
  otherAppId = await createApp(database())
})

const post = { webhookUrl: 'https://app.example/hook?a=1', requestType: 'POST' } as const

describe('create', () => {
  test('registers an active webhook and shows its secret once', async () => {
    const created = await webhooks.create(appId, post)
    expect(created).toMatchObject({ ...post, active: true })
    expect(created.signingSecret).toMatch(/^whsec_/)
    const { signingSecret, ...shown } = created
    expect(await webhooks.get(appId, created.webhookId)).toEqual(shown)
    expect(await webhooks.list(appId)).toEqual([shown])
  })

  test('keeps the secret encrypted', async () => {
    const { webhookId, signingSecret } = await webhooks.create(appId, post)
    const row = await database()
      .selectFrom('webhooks')
      .select('secret')
      .where('id', '=', webhookId)
      .executeTakeFirstOrThrow()
    const key = Buffer.from(signingSecret.slice(6), 'base64')
    expect(row.secret.includes(signingSecret)).toBe(false)
    expect(row.secret.includes(key)).toBe(false)
    expect(decryptSecret(masterKey, secretPurpose, row.secret)).toBe(signingSecret)
  })

  test.each([
    ['no URL', 'hook', /not a URL/],
    ['the empty text', '', /not a URL/],
    ['another scheme', 'ftp://app.example/', /must be https/],
    ['http to the internet', 'http://app.example/', /must be https/],
    ['a private address', 'https://10.0.0.1/', /public internet/],
    ['credentials', 'https://a:b@app.example/', /user name/],
    ['more than 2048 characters', `https://app.example/${'x'.repeat(2030)}`, /2048/],
  ])('refuses %s and stores nothing', async (_, webhookUrl, reason) => {
    const creation = webhooks.create(appId, { webhookUrl, requestType: 'POST' })
    await expect(creation).rejects.toThrow(InvalidParamsError)
    await expect(creation).rejects.toThrow(reason)
    expect(await webhooks.list(appId)).toEqual([])
  })

  test('refuses a GET webhook whose own query has the name data', async () => {
    const webhookUrl = 'https://app.example/?data=1'
    await expect(webhooks.create(appId, { webhookUrl, requestType: 'GET' })).rejects.toThrow(
      /query parameter data/,
    )
    await webhooks.create(appId, { webhookUrl, requestType: 'POST' })
  })

  test('stops at five per app, also when all come at once', async () => {
    const attempts = Array.from({ length: 9 }, () => webhooks.create(appId, post))
    const results = await Promise.allSettled(attempts)
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    )
    expect(refused).toHaveLength(4)
    for (const error of refused) expect(error).toBeInstanceOf(WebhookLimitError)
    expect(await webhooks.list(appId)).toHaveLength(5)
    await webhooks.create(otherAppId, post)
  })
})

describe('update and delete', () => {
  test('set active and inactive', async () => {
    const { webhookId } = await webhooks.create(appId, post)
    expect(await webhooks.update(appId, webhookId, false)).toBe(true)
    expect((await webhooks.get(appId, webhookId))?.active).toBe(false)
    expect(await webhooks.update(appId, webhookId, true)).toBe(true)
    expect((await webhooks.get(appId, webhookId))?.active).toBe(true)
  })

  test('delete for good, and make room for another', async () => {
    const { webhookId } = await webhooks.create(appId, post)
    expect(await webhooks.delete(appId, webhookId)).toBe(true)
    expect(await webhooks.get(appId, webhookId)).toBeUndefined()
    expect(await webhooks.delete(appId, webhookId)).toBe(false)
    expect(await webhooks.update(appId, webhookId, true)).toBe(false)
  })

  test("another app's webhook does not exist", async () => {
    const { webhookId } = await webhooks.create(appId, post)
    expect(await webhooks.get(otherAppId, webhookId)).toBeUndefined()
    expect(await webhooks.update(otherAppId, webhookId, false)).toBe(false)
    expect(await webhooks.delete(otherAppId, webhookId)).toBe(false)
    expect(await webhooks.list(otherAppId)).toEqual([])
    expect((await webhooks.get(appId, webhookId))?.active).toBe(true)
  })

  test.each(['', 'x', '0', randomUUID(), `${randomUUID()}0`, '\u0000'])(
    'the id %j is the id of nothing',
    async (webhookId) => {
      expect(await webhooks.get(appId, webhookId)).toBeUndefined()
      expect(await webhooks.update(appId, webhookId, true)).toBe(false)
      expect(await webhooks.delete(appId, webhookId)).toBe(false)
    },
  )
})
