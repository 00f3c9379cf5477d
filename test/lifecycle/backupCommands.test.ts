import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Database } from '../../src/db/database.js'
import { startEmbeddedPostgres } from '../../src/db/embedded/embeddedPostgres.js'
import { newestMigration } from '../../src/db/migrate.js'
import { withBooks } from '../support/database/books.js'
import { silent } from '../support/logger.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { fillTank } from '../support/service/fillTank.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving, serveEnvironment } from '../support/service/serving.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
} from '../support/service/startPurser.js'

/* `purser backup create|verify|restore` on a service that goes on while the backup is made. */

const CHAIN_ID = 1_119
let serving: Serving
let service: RunningService
let tank: Hex
let folder: string
let file: string

beforeAll(async () => {
  serving = await prepareServing(
    CHAIN_ID,
    async ({ rpcUrl }) => ({ rpcUrls: [rpcUrl], executorKeys: ['env:EXECUTOR'] }),
    { OWNER_KEY: devKey(3) },
  )
  const [app] = rowsOf(await serving.commands.answer('app', 'list'))
  tank = await fillTank(serving.commands, app?.id ?? '', CHAIN_ID)
  service = await serving.start()
  folder = makeDataFolder()
  file = join(folder, 'purser.backup')
})

afterAll(async () => {
  await serving?.stop()
  removeDataFolder(folder)
})

function info() {
  return { ...serving.info(), tanks: { '0.6': tank } }
}

const tables = [
  ...['accounts', 'apps', 'keys', 'tanks', 'audit_log', 'reservations', 'decisions', 'operations'],
  ...['bundles', 'inclusions', 'transaction_receipts'],
] as const

/** The rows of tables as PostgreSQL writes them. */
async function contentOf(database: Database) {
  const content: Record<string, readonly unknown[]> = {}
  for (const table of tables) {
    const { rows } = await sql`select t::text from ${sql.table(table)} t order by 1`.execute(
      database,
    )
    content[table] = rows
  }
  return content
}

type Level = 'ok' | 'warning' | 'fault'

/** The findings about a backup that are of a level, as `group: text`. */
async function findingsOf(path: string, level: Level, environment = {}): Promise<string[]> {
  const commands = commandsOn(serving.folder, { ...serving.environment, ...environment })
  const { stdout, stderr } = await commands.run('backup', 'verify', path, '--json')
  expect(stderr).toBe('')
  const { ok, findings } = JSON.parse(stdout) as {
    ok: boolean
    findings: { level: Level; group: string; text: string }[]
  }
  expect(ok).toBe(findings.every((finding) => finding.level !== 'fault'))
  return findings.flatMap((each) => (each.level === level ? `${each.group}: ${each.text}` : []))
}

/** A copy of the backup with its text changed. */
function changed(name: string, change: (text: string) => string): string {
  const text = gunzipSync(readFileSync(file)).toString()
  const path = join(folder, name)
  const other = change(text)
  expect(other).not.toBe(text)
  writeFileSync(path, gzipSync(other))
  return path
}

beforeAll(async () => {
  const intents = intentsOf('backed up', 6)
  for (const intent of intents) {
    await prepare(info(), intent)
    await send(info(), intent)
  }
  await included(info(), intents)
  await serving.commands.answer('backup', 'create', file)
})

test('a backup of a running service is whole and agrees with the chain', async () => {
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await findingsOf(file, 'ok')).toEqual([
    expect.stringMatching(/^database: the backup of \S+ by \S+ is whole and loads: \d+ rows$/),
    'database: ledger and audit log are intact',
    expect.stringMatching(/^keys: the master key decrypts all [1-9]\d* secrets$/),
    expect.stringMatching(/^nodes: it is the same chain, \d+ blocks after the backup$/),
    'nodes: 6 operations are on the chain as the books have them',
  ])
  expect(await serving.commands.refusal('backup', 'create', file)).toContain('exists')
})

test('what was changed in a backup, or is of another chain or key, is found', async () => {
  const cost = changed('cost', (text) => text.replace(/"actual_gas_cost": \d/, '$&1'))
  expect(await findingsOf(cost, 'fault')).toContainEqual(
    expect.stringMatching(/^nodes: 1 of 6 operations are not on the chain as the books have them/),
  )
  const charge = changed('charge', (text) => text.replace(/"actual_cost": [1-9]/, '$&1'))
  expect(await findingsOf(charge, 'fault')).toEqual([
    'database: 1 sponsorships were charged otherwise than their operations cost',
  ])
  const audit = changed('audit', (text) =>
    text.replace('"action": "tank.deposit"', '"action": "x"'),
  )
  expect(await findingsOf(audit, 'fault')).toContainEqual(expect.stringMatching(/audit log/))
  const blocks = changed('blocks', (text) =>
    text.replace(
      /("hash": "0x)[0-9a-f]{8}(?=[0-9a-f]*", "number": \d+, "chain_id")/g,
      '$100000000',
    ),
  )
  expect(await findingsOf(blocks, 'fault')).toContainEqual(
    expect.stringMatching(/^nodes: none of the \d+ blocks/),
  )
  const otherKey = { PURSER_MASTER_KEY: '6f'.repeat(32) }
  expect(await findingsOf(file, 'fault', otherKey)).toEqual([
    'keys: the master key is not the one of the backup',
  ])
  expect(await findingsOf(file, 'warning', { PURSER_CHAINS: '[]' })).toEqual([
    'nodes: its books could not be compared',
  ])
})

test('a file that is cut, lacks a row, or is of a newer version is refused', async () => {
  const { refusal } = serving.commands
  const cut = join(folder, 'cut')
  copyFileSync(file, cut)
  truncateSync(cut, statSync(file).size - 20)
  expect(await refusal('backup', 'verify', cut)).toMatch(/^The backup cannot be read: /)
  const empty = makeDataFolder()
  const message = await commandsOn(empty).refusal('backup', 'restore', cut)
  expect(message).toContain('use another one for the next try')
  removeDataFolder(empty)
  const lacking = changed('lacking', (text) => text.replace(/^\{"id": .*\n/m, ''))
  expect(await refusal('backup', 'verify', lacking)).toBe(
    'The backup is incomplete: rows are missing.',
  )
  const newer = changed('newer', (text) => text.replace(newestMigration, '9999-later'))
  expect(await refusal('backup', 'verify', newer)).toContain(
    'by a newer version of Purser, up to 9999-later',
  )
  writeFileSync(join(folder, 'other'), gzipSync('{}\n'))
  expect(await refusal('backup', 'verify', join(folder, 'other'))).toBe(
    'The file is not a Purser backup.',
  )
})

test('it loads into an empty database row by row, and a service goes on there', async () => {
  await service.end('SIGTERM')
  const resting = join(folder, 'resting.backup')
  await serving.commands.answer('backup', 'create', resting)
  const before = await withBooks(serving.folder, contentOf)
  const restored = makeDataFolder()
  const commands = commandsOn(restored)
  expect(await commands.answer('backup', 'restore', resting)).toMatch(
    /^\d+ rows of \S+ are restored/,
  )
  const postgres = await startEmbeddedPostgres(restored, silent)
  try {
    const after = await withBooks(restored, contentOf)
    expect(after).toEqual(before)
    for (const table of tables) expect(after[table]?.length).toBeGreaterThan(0)
    expect(await commands.refusal('backup', 'restore', file)).toContain('use an empty one')

    const { DATABASE_URL } = serveEnvironment(restored, {}, {})
    service = await serving.start({ DATABASE_URL })
    const later = intentsOf('on the restored one', 4)
    for (const intent of later) {
      await prepare(info(), intent)
      await send(info(), intent)
    }
    await included(info(), later)
    await service.end('SIGTERM')
  } finally {
    await postgres.stop()
    removeDataFolder(restored)
  }
})
