import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildVersion } from '../../src/base/version.js'
import { processesOn } from '../support/service/processes.js'
import { until } from '../support/until.js'

/*
 * The tarball as a user without rights installs it: `npm install --global` and `npx`, in an empty folder, on the version of
 * Node that runs the tests, or on those that PURSER_NODES names, which come from the npm package `node`. When root runs the
 * tests, another user runs what is installed.
 */
const run = promisify(execFile)
const versions = process.env.PURSER_NODES?.split(' ') ?? [process.version.slice(1)]
/** The user of nobody on every Linux. */
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

let root = ''
let tarball = ''
let npmCli = ''
const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
/** The way to the registry. */
const network = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(npm_config_registry|node_extra_ca_certs|(https?|no)_proxy)$/i.test(name),
  ),
)

function makeFolder(name: string): string {
  const folder = join(root, name)
  mkdirSync(folder)
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  return folder
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'purser-installed-'))
  chmodSync(root, 0o755)
  const npm = realpathSync((await run('sh', ['-c', 'command -v npm'])).stdout.trim())
  npmCli = join(dirname(npm), 'npm-cli.js')
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', root]
  const [answer] = JSON.parse((await run('npm', pack)).stdout)
  tarball = join(root, answer.filename)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The folder of a version of Node with its program. */
async function nodeOf(version: string): Promise<string> {
  const folder = join(root, `node-${version}`)
  mkdirSync(folder)
  if (version === process.version.slice(1)) copyFileSync(process.execPath, join(folder, 'node'))
  else {
    const install = ['install', '--prefix', folder, '--no-audit', `node@${version}`]
    await run('npm', install)
    copyFileSync(join(folder, 'node_modules/node/bin/node'), join(folder, 'node'))
  }
  return folder
}

describe.each(versions)('on Node %s, as a user without rights', (version) => {
  let node = ''
  let home = ''
  /** Runs a program as that user, who has nothing but a home and this Node. */
  const as = (cwd: string, program: string, args: readonly string[]) => ({
    program,
    args,
    options: {
      cwd,
      ...user,
      env: {
        ...network,
        HOME: home,
        PATH: `${join(home, 'global/bin')}:${node}:/usr/bin:/bin`,
        PURSER_TEST_RUN: process.env.PURSER_TEST_RUN ?? '',
        npm_config_prefix: join(home, 'global'),
        npm_config_update_notifier: 'false',
      },
    },
  })
  const answer = async (cwd: string, program: string, ...given: string[]): Promise<string> => {
    const { args, options } = as(cwd, program, given)
    return (await run(program, args, options)).stdout
  }
  const npm = (cwd: string, ...args: string[]) => answer(cwd, join(node, 'node'), npmCli, ...args)

  beforeAll(async () => {
    node = await nodeOf(version)
    home = makeFolder(`home-${version}`)
  })

  test('npm install --global: purser dev starts in an empty folder, and its demo sends operations', async () => {
    const folder = makeFolder(`global-${version}`)
    await npm(folder, 'install', '--global', tarball)
    const which = await answer(folder, 'sh', '-c', 'node --version; id -u; purser --version')
    const uid = isRoot ? NOBODY : process.getuid?.()
    expect(which).toBe(`v${version}\n${uid}\n${buildVersion}\n`)

    const { program, args, options } = as(folder, 'purser', ['dev', '--port', '0'])
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'exit')
    try {
      let output = ''
      child.stderr.on('data', (chunk) => {
        output += chunk
      })
      for await (const line of createInterface(child.stdout)) {
        output += `${line}\n`
        if (line.includes('Purser is ready')) break
      }
      expect(output).toContain('Purser is ready')
      child.stdout.resume()
      const demo = await answer(folder, 'purser', 'demo')
      expect(demo.match(/success +true/g)).toHaveLength(3)
    } finally {
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    }
    await until(async () => processesOn(folder).length === 0)
  })

  test('npx runs it in an empty folder', async () => {
    const folder = makeFolder(`npx-${version}`)
    const exec = ['exec', '--yes', '--package', tarball, '--', 'purser', '--version']
    expect(await npm(folder, ...exec)).toBe(`${buildVersion}\n`)
  })
})
