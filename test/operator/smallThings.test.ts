import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { flagOf, type OptionName, options, variableOf } from '../../src/config/options.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { expectOneSentence } from '../support/service/cliAnswers.js'
import { makeDataFolder, removeDataFolder, runCli } from '../support/service/startPurser.js'

const external = useDatabase()
const folder = makeDataFolder()
afterAll(() => removeDataFolder(folder))

const chains = JSON.stringify([
  { chainId: 10, rpcUrls: ['http://127.0.0.1:1'], executorKeys: [`0x${'11'.repeat(32)}`] },
])

describe('purser serve --help', () => {
  test('lists every option with its three names, and shows no value as [object Object]', async () => {
    const { stdout } = await runCli(['serve', '--help'])
    expect(stdout).not.toContain('[object')
    for (const name of Object.keys(options) as OptionName[]) {
      expect(stdout).toContain(flagOf(name))
      expect(stdout).toContain(variableOf(name))
      expect(stdout.replace(/\s+/g, ' ')).toContain(`file key ${name}`)
    }
  })
})

describe('a mistake is found before anything starts', () => {
  test.each(['x', '10.0.0.0/40', '10.0.0.1,nonsense', '::1/200'])(
    '--trusted-proxies %s is refused',
    async (list) => {
      const flags = ['--data', folder, '--chains', chains, '--trusted-proxies', list]
      const { code, stderr } = await runCli(['serve', ...flags])
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toMatch(/--trusted-proxies.*CIDR/)
    },
  )

  test('a taken port, while the data folder is still empty', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    try {
      const port = String((blocker.address() as AddressInfo).port)
      const { code, stderr } = await runCli(['dev', '--data', folder, '--port', port])
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toContain(port)
      expect(readdirSync(folder)).toEqual([])
    } finally {
      blocker.close()
    }
  })
})

describe('a database failure is reported with its cause', () => {
  test('a schema that a newer version made says which is newer', async () => {
    const { database } = external()
    await sql`insert into kysely_migration (name, timestamp) values ('9999-of-the-future', 'now')`.execute(
      database,
    )
    try {
      for (const words of [
        ['serve', '--chains', chains, '--port', '0'],
        ['account', 'list'],
      ]) {
        const { code, stderr } = await runCli([...words, '--data', folder], {
          DATABASE_URL: databaseUrlOf(external()),
        })
        expect(code).toBe(1)
        expect(expectOneSentence(stderr)).toMatch(
          /newer version of Purser, up to 9999-of-the-future.*ends at \d{4}-/,
        )
      }
    } finally {
      await sql`delete from kysely_migration where name like '9999%'`.execute(database)
    }
  })

  test('a wrong database name, a wrong role and a closed port are named', async () => {
    const url = databaseUrlOf(external())
    for (const [wrong, text] of [
      [databaseUrlOf(external(), 'not_there'), 'not_there'],
      [url.replace('user=purser', 'user=stranger'), 'stranger'],
      ['postgres://purser@127.0.0.1:1/purser', '127.0.0.1:1'],
    ] as const) {
      const { code, stderr } = await runCli(['account', 'list', '--data', folder], {
        DATABASE_URL: wrong,
      })
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toContain(text)
    }
  })
})
