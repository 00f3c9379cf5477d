import { randomUUID } from 'node:crypto'
import { parseEther } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.js'
import { type NewDecision, recordRefusedDecision } from '../../src/paymaster/ledger/decisions.js'
import { prune } from '../../src/records/startRetention.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { recordMetrics } from '../support/recordMetrics.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/*
 * A client with an app's key asks for sponsorships that are refused, as fast as the key allows: each left a row for
 * ninety days.
 */

/** Decisions of an app that are kept in ten seconds, and in all. */
const PER_WINDOW = 50
const MOST_KEPT = 10_000

async function countRefused(database: Database, appId: string): Promise<number> {
  const { count } = await database
    .selectFrom('decisions')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('app_id', '=', appId)
    .where('sponsored', '=', false)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The most that is kept of what was asked since then: windows of ten seconds begin at any time. */
function mostSince(begin: number): number {
  return PER_WINDOW * (Math.ceil((Date.now() - begin) / 10_000) + 1)
}

describe('decisions of refused sponsorships', () => {
  const connected = useDatabase()
  const database = () => connected().database
  let appId: string
  beforeEach(async () => {
    appId = await createApp(database())
  })

  const refused = (ofApp: string): NewDecision => ({
    id: randomUUID(),
    app_id: ofApp,
    chain_id: 1n,
    entry_point: '0x1',
    sender: '0x2',
    nonce: 0n,
    user_op_hash: null,
    sponsored: false,
    code: 'NO_TANK',
    message: '',
    max_cost: 0n,
    valid_after: 0n,
    valid_until: 0n,
  })

  test('each is kept or counted; a flood of one app takes nothing from another', async () => {
    let lost = 0
    const metrics = recordMetrics((_, by, name) => {
      if (name === 'purser_decisions_unrecorded_total') lost += by
    })
    const parts = { database: database(), metrics }
    const other = await createApp(database())
    const begin = Date.now()
    for (let n = 0; n < 400; n++) await recordRefusedDecision(parts, refused(appId), [])
    await recordRefusedDecision(parts, refused(other), [])
    const kept = await countRefused(database(), appId)
    expect(kept).toBeGreaterThanOrEqual(PER_WINDOW)
    expect(kept).toBeLessThanOrEqual(mostSince(begin))
    expect(kept + lost).toBe(400)
    expect(await countRefused(database(), other)).toBe(1)
  })

  test('beyond the newest ten thousand of an app they end; what was granted does not', async () => {
    const now = Date.now()
    const rows = Array.from({ length: MOST_KEPT + 5 }, (_, n) => ({
      ...refused(appId),
      message: `number ${n}`,
      created_at: new Date(now - 20_000 + n),
    }))
    for (let at = 0; at < rows.length; at += 1_000)
      await database()
        .insertInto('decisions')
        .values(rows.slice(at, at + 1_000))
        .execute()
    const other = await createApp(database())
    const granted = { sponsored: true, code: 'SPONSORED', created_at: new Date(now - 30_000) }
    await database()
      .insertInto('decisions')
      .values([{ ...refused(appId), ...granted }, refused(other)])
      .execute()
    const pruned = await prune({ database: database(), logger: silent, days: 90 }, new Date())
    expect(pruned.decisions).toBe(5)
    const left = await database()
      .selectFrom('decisions')
      .select(['message', 'sponsored'])
      .where('app_id', '=', appId)
      .orderBy('created_at')
      .execute()
    expect(left).toHaveLength(MOST_KEPT + 1)
    expect(left.slice(0, 2)).toMatchObject([{ sponsored: true }, { message: 'number 5' }])
    expect(await countRefused(database(), other)).toBe(1)
  })
})

describe('through the service', () => {
  const { world, draftOf, ask, appId, makeTank } = useSponsoredApp('0.8')

  test('any number of refusals leaves a share, and the next sponsorship is granted', async () => {
    const { draft } = await draftOf('deployed')
    const begin = Date.now()
    for (let n = 0; n < 150; n++)
      expect((await ask(draft)).decision).toMatchObject({ sponsored: false, code: 'NO_TANK' })
    const most = mostSince(begin)
    expect(await countRefused(world().database, appId())).toBeLessThanOrEqual(most)
    await makeTank(parseEther('1'))
    expect((await ask(draft)).decision.sponsored).toBe(true)
  })
})
