import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import { readDevInfo, startService } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const run = promisify(execFile)

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

describe('the packed tarball', () => {
  test('holds what runs, its licence and readme, and nothing else', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'package.json',
        'LICENSE',
        'README.md',
        'dist/cli.js',
        'dist/demo.js',
      ]),
    )
    const others = packed.filter((path) => !path.startsWith('dist/'))
    expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
    expect(
      packed.filter((path) => /node_modules|\.test\.|\.ts$|\/bench\/|\/test\//.test(path)),
    ).toEqual([])
  })

  test('its command answers', async () => {
    const npx = (...args: string[]) => run('npx', ['--no-install', 'purser', ...args], { cwd: app })
    expect((await npx('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await npx('--help')).stdout).toContain('Usage: purser')
  })

  test('purser dev runs from a folder that other users cannot read, with its data there', async () => {
    const cli = join(app, 'node_modules/purser/dist/cli.js')
    const data = join(home, 'data')
    const flags = ['--data', data, '--port', '0', '--log-level', 'warn']
    const service = await startService(['dev', ...flags], {}, cli)
    try {
      const info = readDevInfo(data)
      expect(Object.keys(info.entryPoints)).toEqual(['0.6'])
      expect(service.output()).toContain(
        'has no EntryPoint v0.7 (not installed: account-abstraction-v07), v0.8',
      )
      const account = await devAccount(info, 'packed')
      const receipt = await receiptOf(info, await account.send(await account.sponsored()))
      expect(receipt.success).toBe('true')
      expect(existsSync(join(data, 'postgres'))).toBe(true)
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
    }
    // PostgreSQL's last process may still write its checkpoint where the disk is slow.
    await until(async () => processesOn(home).length === 0)
  })
})
