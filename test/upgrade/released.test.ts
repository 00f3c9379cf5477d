import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationNames, migrationsFolder, version } from '../../src/base/version.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { withBooks } from '../support/database/books.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { fillTank } from '../support/service/fillTank.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'

/*
 * The database of each released version, which `PURSER_WRITE_DATABASE=1 npx vitest run test/upgrade/released.test.ts` stores at
 * its release. This version starts on each of them under load. The database of the version that is not released yet is made
 * and used in the same run.
 */
const STORED = 'test/upgrade/released'
const CHAIN_ID = 1_722

/** What is known of a stored database besides its rows. */
type Facts = {
  readonly apiKey: string
  readonly authToken: string
  /** Operations that were included. */
  readonly hashes: readonly Hex[]
  /** SHA-256 of each migration: a released one never changes. */
  readonly migrations: Readonly<Record<string, string>>
}

function digestOf(migration: string): string {
  const text = readFileSync(new URL(`${migration}.sql`, migrationsFolder))
  return createHash('sha256').update(text).digest('hex')
}

function prepareChain(begins = {}): Promise<Serving> {
  return prepareServing(
    CHAIN_ID,
    async ({ rpcUrl }) => ({
      rpcUrls: [rpcUrl],
      executorKeys: ['env:EXECUTOR'],
      facts: { pollInterval: 50, ...begins },
    }),
    { OWNER_KEY: devKey(3) },
  )
}

async function appOf({ commands }: Serving): Promise<string> {
  const [app] = rowsOf(await commands.answer('app', 'list'))
  if (app?.id === undefined) throw new Error('there is no app')
  return app.id
}

/** Writes the database of this version after some use. */
async function writeDatabase(folder: string): Promise<void> {
  const serving = await prepareChain()
  try {
    const tank = await fillTank(serving.commands, await appOf(serving), CHAIN_ID)
    await serving.start()
    const info = { ...serving.info(), tanks: { '0.6': tank } }
    const intents = intentsOf('of a released version', 8)
    for (const intent of intents) {
      await prepare(info, intent)
      await send(info, intent)
    }
    const hashes = await included(info, intents)
    await serving.commands.answer('backup', 'create', join(folder, `${version}.backup`))
    const migrations = Object.fromEntries(migrationNames.map((name) => [name, digestOf(name)]))
    const facts: Facts = { ...serving.tenant, hashes, migrations }
    writeFileSync(join(folder, `${version}.json`), `${JSON.stringify(facts, null, 2)}\n`)
  } finally {
    await serving.stop()
  }
}

const made = makeDataFolder()
const stored = existsSync(STORED)
  ? readdirSync(STORED).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []))
  : []

beforeAll(async () => {
  if (process.env.PURSER_WRITE_DATABASE !== undefined) {
    mkdirSync(STORED, { recursive: true })
    await writeDatabase(STORED)
  } else if (!stored.includes(version)) await writeDatabase(made)
})
afterAll(() => removeDataFolder(made))

describe.each([...new Set([...stored, version])])('the database of %s', (released) => {
  const folder = () => (existsSync(join(STORED, `${released}.json`)) ? STORED : made)
  const facts = (): Facts => JSON.parse(readFileSync(join(folder(), `${released}.json`), 'utf8'))

  test('has migrations that were not changed since', () => {
    for (const [name, digest] of Object.entries(facts().migrations))
      expect(digestOf(name), name).toBe(digest)
  })

  test('is migrated by a start of this version under load: no request fails, and all that it held is there', async () => {
    // The chain of its time is gone; one with the same id begins anew.
    const serving = await prepareChain({ restarts: true })
    try {
      const name = 'upgraded'
      const url = new URL(serving.environment.DATABASE_URL ?? '')
      url.pathname = `/${name}`
      await withBooks(serving.folder, (database) =>
        sql`create database ${sql.id(name)}`.execute(database),
      )
      const environment = { ...serving.environment, DATABASE_URL: String(url) }
      const commands = commandsOn(serving.folder, environment)
      await commands.answer('backup', 'restore', join(folder(), `${released}.backup`))

      const service = await serving.start({ DATABASE_URL: environment.DATABASE_URL })
      expect(service.output()).not.toMatch(/"level":(50|60)/)
      const [app] = rowsOf(await commands.answer('app', 'list'))
      const tank = await fillTank(commands, app?.id ?? '', CHAIN_ID)
      const info = { ...serving.info(facts()), tanks: { '0.6': tank } }
      const sent: Intent[] = []
      await Promise.all(
        [0, 1, 2].map(async (client) => {
          for (const intent of intentsOf(`upgraded ${client}`, 6)) {
            await prepare(info, intent)
            await send(info, intent)
            sent.push(intent)
          }
        }),
      )
      await included(info, sent)

      for (const hash of facts().hashes) {
        const shown = await commands.answer('operation', 'show', hash, '--chain', String(CHAIN_ID))
        expect(shown).toContain(`operation ${hash}`)
      }
      await commands.answer('audit', 'verify')
    } finally {
      await serving.stop()
    }
  })
})
