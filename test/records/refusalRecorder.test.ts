import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { createRefusalRecorder, listRefusals, type NewRefusal } from '../../src/records/refusals.js'
import { prune } from '../../src/records/startRetention.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { recordMetrics } from '../support/recordMetrics.js'

const connected = useDatabase()
const database = () => connected().database
let appId: string
let accountId: string
beforeEach(async () => {
  appId = await createApp(database())
  const app = database().selectFrom('apps').select('account_id').where('id', '=', appId)
  accountId = (await app.executeTakeFirstOrThrow()).account_id
})

function refusal(changes: Partial<NewRefusal> = {}): NewRefusal {
  return {
    at: new Date(),
    account_id: accountId,
    app_id: appId,
    key_id: randomUUID(),
    chain_id: 1n,
    method: 'eth_sendUserOperation',
    code: -32_500,
    message: 'AA25 invalid account nonce',
    request_id: randomUUID(),
    ...changes,
  }
}

async function stored(): Promise<number> {
  const { items } = await listRefusals(database(), { appId }, { limit: 200, before: undefined })
  return items.length
}

test('keeps what one app makes up to its share, and counts the rest', async () => {
  let lost = 0
  const recorder = createRefusalRecorder({
    database: database(),
    logger: silent,
    metrics: recordMetrics((_, by) => {
      lost += by
    }),
  })
  for (let n = 0; n < 1_000; n++) recorder.record(refusal())
  const other = await createApp(database())
  recorder.record(refusal({ app_id: other }))
  await recorder.stop()
  expect(await stored()).toBe(50)
  expect(lost).toBe(950)
  const ofOther = await listRefusals(database(), { appId: other }, { limit: 2, before: undefined })
  expect(ofOther.items).toHaveLength(1)
})

test('what the database refuses is lost, counted and stops nothing', async () => {
  let lost = 0
  const recorder = createRefusalRecorder({
    database: database(),
    logger: silent,
    metrics: recordMetrics((_, by) => {
      lost += by
    }),
  })
  recorder.record(refusal({ app_id: randomUUID() }))
  await recorder.stop()
  expect(lost).toBe(1)
  recorder.record(refusal())
  await recorder.stop()
  expect(await stored()).toBe(1)
})

test('old ones end, and those beyond the share of an app', async () => {
  const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  const now = Date.now()
  const rows = Array.from({ length: 10_005 }, (_, n) => ({
    message: `number ${n}`,
    at: new Date(now - 20_000 + n),
  }))
  for (let at = 0; at < rows.length; at += 1_000)
    await database()
      .insertInto('refusals')
      .values(rows.slice(at, at + 1_000).map(refusal))
      .execute()
  const other = await createApp(database())
  const ofOther = [refusal({ app_id: other, at: dayAgo(91) }), refusal({ app_id: other })]
  await database().insertInto('refusals').values(ofOther).execute()
  const history = { chain_id: 1n, hash: '0x01', kind: 'returned' } as const
  await database()
    .insertInto('operation_history')
    .values([91, 89].map((age) => ({ ...history, at: dayAgo(age) })))
    .execute()
  const days = 90
  const pruned = await prune({ database: database(), logger: silent, days }, new Date())
  expect(pruned).toMatchObject({ refusals: 6, history: 1 })
  const left = await database()
    .selectFrom('refusals')
    .select(['message'])
    .where('app_id', '=', appId)
    .orderBy('at')
    .execute()
  expect(left).toHaveLength(10_000)
  expect(left[0]?.message).toBe('number 5')
  const page = { limit: 10, before: undefined }
  expect((await listRefusals(database(), { appId: other }, page)).items).toHaveLength(1)
})
