import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { InvalidParamsError } from '../../src/base/errors/requestErrors.js'
import { createNetworkGuard, loopback } from '../../src/base/outbound/networkGuard.js'
import { createWebhooks, type Webhooks, webhookDeadline } from '../../src/webhooks/manage.js'
import { testActor } from '../support/actor.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}
const masterKey = randomBytes(32)

let webhooks: Webhooks
let appId = ''
let otherAppId = ''

beforeEach(async () => {
  webhooks = createWebhooks({
    database: database(),
    masterKey,
    guard: createNetworkGuard(loopback),
    actor: testActor,
  })
  appId = await createApp(database())
  otherAppId = await createApp(database())
})

const post = { webhookUrl: 'https://app.example/hook?a=1', requestType: 'POST' } as const

describe('create', () => {
  test('registers a webhook that is active at once', async () => {
    const created = await webhooks.create(appId, post)
    const defaults = { payload: 'plain', onFailure: 'deny', deadlineMs: webhookDeadline.standard }
    expect(created).toEqual({
      ...post,
      ...defaults,
      active: true,
      webhookId: created.webhookId,
    })
    expect(await webhooks.get(appId, created.webhookId)).toEqual(created)
    expect(await webhooks.list(appId)).toEqual([created])
  })

  test('gives each webhook a secret, shown to its app only and kept encrypted', async () => {
    const { webhookId } = await webhooks.create(appId, post)
    const secret = (await webhooks.signingSecret(appId, webhookId)) ?? ''
    expect(secret).toMatch(/^whsec_/)
    expect(await webhooks.signingSecret(otherAppId, webhookId)).toBeUndefined()
    const other = await webhooks.create(appId, post)
    expect(await webhooks.signingSecret(appId, other.webhookId)).not.toBe(secret)
    const row = await database()
      .selectFrom('webhooks')
      .select('secret')
      .where('id', '=', webhookId)
      .executeTakeFirstOrThrow()
    expect(row.secret.includes(secret)).toBe(false)
    expect(row.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false)
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
})

describe('update and delete', () => {
  test('set active and inactive', async () => {
    const { webhookId } = await webhooks.create(appId, post)
    expect(await webhooks.update(appId, webhookId, false)).toBe(true)
    expect((await webhooks.get(appId, webhookId))?.active).toBe(false)
    expect(await webhooks.update(appId, webhookId, true)).toBe(true)
    expect((await webhooks.get(appId, webhookId))?.active).toBe(true)
  })

  test('delete for good, so that another one fits', async () => {
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
      expect(await webhooks.signingSecret(appId, webhookId)).toBeUndefined()
      expect(await webhooks.update(appId, webhookId, true)).toBe(false)
      expect(await webhooks.delete(appId, webhookId)).toBe(false)
      expect(await webhooks.signingSecret(appId, webhookId)).toBeUndefined()
    },
  )
})

describe('the deadline', () => {
  const { standard, shortest, longest } = webhookDeadline

  test('has the same default in the database', async () => {
    const { rows } = await sql<{ column_default: string }>`
      select column_default from information_schema.columns
      where table_name = 'webhooks' and column_name = 'deadline_ms'`.execute(database())
    expect(rows).toEqual([{ column_default: String(standard) }])
  })

  test('has the same bounds in the database', async () => {
    const { webhookId } = await webhooks.create(appId, post)
    const set = (deadlineMs: number) => webhooks.change(appId, webhookId, { deadlineMs })
    expect(await set(shortest)).toMatchObject({ deadlineMs: shortest })
    expect(await set(longest)).toMatchObject({ deadlineMs: longest })
    await expect(set(shortest - 1)).rejects.toThrow(/deadline_ms/)
    await expect(set(longest + 1)).rejects.toThrow(/deadline_ms/)
  })
})
