import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { expectOneSentence } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { processesOn } from '../support/service/processes.js'
import { makeDataFolder, removeDataFolder, runCli } from '../support/service/startPurser.js'

const external = useDatabase()
let folder = ''
beforeAll(() => {
  folder = makeDataFolder()
})
afterAll(() => removeDataFolder(folder))

const id = '00000000-0000-4000-8000-000000000000'
const tank = ['--app', id, '--chain', '10']
const chains = JSON.stringify([{ chainId: 10, rpcUrls: ['http://127.0.0.1:1'] }])

/** Every command that works on the store, with what it requires. */
const commands: readonly (readonly string[])[] = [
  ['account', 'list'],
  ['account', 'create', '--name', 'x'],
  ['account', 'revoke', id],
  ['app', 'list'],
  ['app', 'create', '--account', id, '--name', 'x'],
  ['app', 'revoke', id],
  ['key', 'list'],
  ['key', 'create', '--app', id, '--name', 'x'],
  ['key', 'rotate', id],
  ['key', 'revoke', id],
  ['tank', 'show', ...tank],
  ['tank', 'create', ...tank],
  ['tank', 'deposit', ...tank, '--amount', '1'],
  ['tank', 'withdraw', ...tank, '--amount', '1'],
  ['tank', 'replace', ...tank],
  ['tank', 'mode', ...tank, '--mode', 'tank'],
  ['tank', 'credit', ...tank, '--amount', '1', '--reference', 'x'],
  ['tank', 'alert', ...tank],
  ['token', 'list', '--chain', '10'],
  ['token', 'withdraw', '--chain', '10', '--token', 'x', '--amount', '1'],
  ['operation', 'list'],
  ['refusal', 'list'],
  ['operation', 'cancel', `0x${'11'.repeat(32)}`, '--chain', '10'],
  ['webhook', 'list', '--app', id],
  ['decision', 'list', '--app', id],
  ['subscription', 'list', '--app', id],
  ['policy', 'list', '--app', id],
  ['keys', 'adopt'],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['migrate'],
]

test.each(commands.map((words) => [words.slice(0, 2).join(' '), words] as const))(
  'in a folder without a database, purser %s says what it looks for and where, and makes nothing',
  async (_, words) => {
    const data = join(folder, 'wrong')
    const { code, stdout, stderr } = await runCli([...words, '--data', data], {
      PURSER_CHAINS: chains,
    })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const sentence = expectOneSentence(stderr)
    expect(sentence).toContain(`no Purser database in ${data}`)
    expect(sentence).toContain('--data')
    expect(existsSync(data)).toBe(false)
  },
)

test('on a server without our schema a command makes none; migrate does', async () => {
  const name = 'operator_empty'
  const { database } = external()
  await sql`create database ${sql.id(name)}`.execute(database)
  try {
    const environment = { DATABASE_URL: databaseUrlOf(external(), name) }
    const data = join(folder, 'external')
    const refused = await runCli(['account', 'list', '--data', data], environment)
    expect(refused.code).toBe(1)
    expect(expectOneSentence(refused.stderr)).toContain('no Purser schema')
    expect((await runCli(['migrate', '--data', data], environment)).code).toBe(0)
    expect((await runCli(['account', 'list', '--data', data], environment)).stdout).toBe('none\n')
    expect(existsSync(data)).toBe(false)
  } finally {
    await sql`drop database ${sql.id(name)} with (force)`.execute(database)
  }
})

test('in the right folder commands work without a service, and leave no process', async () => {
  const data = join(folder, 'right')
  const { accountId } = await createTenant(data, 'right')
  const { code, stdout } = await runCli(['account', 'list', '--data', data])
  expect({ code, found: stdout.includes(accountId) }).toEqual({ code: 0, found: true })
  expect(processesOn(data)).toEqual([])
  expect(readdirSync(data).sort()).toEqual(['master.key', 'postgres'])
})
