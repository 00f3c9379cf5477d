import { Agent } from 'node:http'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '../../src/db/database.js'
import { withFolderDatabase } from '../support/database/folderDatabase.js'
import { hostileBodies } from '../support/http/hostileBodies.js'
import { expectSafeAnswer, sendHostile } from '../support/http/sendHostile.js'
import { possibleDecisions } from '../support/http/sponsorshipAnswers.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { randomRuns } from '../support/runs.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'

const seed = Number(process.env.PURSER_TEST_SEED ?? 20_260_102)
const COUNT = randomRuns(3_000)
const purser = useRunningPurser()

/** Each table of the service with the number of its rows. */
function rowCounts(): Promise<Record<string, bigint>> {
  return withFolderDatabase(purser().dataFolder, async (database: Database) => {
    const tables = await database.introspection.getTables()
    const counts = tables.map(async ({ name }) => {
      const counting = sql<{ n: bigint }>`select count(*) as n from ${sql.table(name)}`
      return [name, (await counting.execute(database)).rows[0]?.n ?? 0n] as const
    })
    return Object.fromEntries(await Promise.all(counts))
  })
}

/** Sends everything, checks every answer, and gives how many decisions it may have left at most. */
async function sendAll(): Promise<{ decisions: number; statuses: Set<number> }> {
  const { info, dataFolder } = purser()
  const { chainId, apiKey, authToken } = info
  const target = { chainId, apiKey, authToken, entryPoints: Object.values(info.entryPoints) }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const statuses = new Set<number>()
  let decisions = 0
  const queue = hostileBodies(seed, COUNT, target).entries()
  const work = async () => {
    for (const [index, hostile] of queue) {
      const answer = await sendHostile(info.url, hostile, agent)
      try {
        expectSafeAnswer(hostile, answer)
        expect(answer.text).not.toContain(dataFolder)
      } catch (cause) {
        const body = Buffer.from(hostile.body).toString().slice(0, 500)
        const what = `${hostile.method} ${hostile.path.slice(0, 300)} ${body}`
        throw new Error(`request ${index} of seed ${seed}: ${what} -> ${answer.text}`, { cause })
      }
      statuses.add(answer.status)
      decisions += possibleDecisions(hostile, answer)
    }
  }
  await Promise.all([work(), work(), work(), work()]).finally(() => agent.destroy())
  return { decisions, statuses }
}

/** A well-formed creation among the requests is a webhook like any other. Returns how many there were. */
async function deleteWebhooks(): Promise<number> {
  const rows = await withFolderDatabase(purser().dataFolder, (database) =>
    database.selectFrom('webhooks').select('id').execute(),
  )
  for (const { id } of rows) {
    const { status } = await webhookApi(purser().info, 'DELETE', { body: { webhookId: id } })
    expect(status).toBe(200)
  }
  return rows.length
}

test(`thousands of hostile requests leave the running service and its database as they were (seed ${seed})`, async () => {
  const { info, output } = purser()
  const before = await rowCounts()
  const greeting = output()
  const { decisions, statuses } = await sendAll()
  const webhooks = await deleteWebhooks()

  // Whether wrong credentials come fast enough to be limited (429) depends on the machine.
  const usual = [200, 204, 400, 401, 404, 405, 413]
  expect([...statuses].filter((status) => status !== 429).sort()).toEqual(usual)
  const after = await rowCounts()
  const made = Number(after.decisions! - before.decisions!)
  expect(made).toBeLessThanOrEqual(decisions)
  // Development blocks come and go by themselves; calls of webhooks belong to decisions. What was refused is
  // recorded behind the answers, and so is the use of each key, in a row a day.
  const audited = { audit_log: before.audit_log! + BigInt(2 * webhooks) }
  const free = {
    decisions: 0n,
    webhook_calls: 0n,
    chain_blocks: 0n,
    refusals: 0n,
    key_usage: 0n,
  }
  expect({ ...after, ...free }).toEqual({ ...before, ...audited, ...free })
  // Warnings and errors would stand in its log.
  expect(output()).toBe(greeting)

  const ready = await fetch(`${info.url}/health/ready`)
  expect(ready.status).toBe(200)
  const account = await devAccount(info, 'after all that')
  const receipt = await receiptOf(info, await account.send(await account.sponsored()))
  expect(receipt.success).toBe('true')
})
