import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { until } from '../support/until.js'

/*
 * Builds the Dockerfile as it is and runs the image, where no engine and no registry of images is reached:
 * `npm run test:image`, as root, with buildah, runc and mmdebstrap of Debian. The base image is a stand-in under
 * the name of the real one: a minimal Debian with the Node that runs the tests. Takes some five minutes.
 */
const isWanted = process.env.PURSER_IMAGE === 'full'
const BASE = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? ''
const IMAGE = 'purser:test'
const CHAIN_ID = 31_337
const USER = 65_532

let home = ''
let root = ''

function buildah(...args: string[]): string {
  const store = ['--root', join(home, 'store'), '--runroot', join(home, 'run')]
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  return execFileSync('buildah', [...store, ...args], {
    encoding: 'utf8',
    stdio: [...stdio],
  }).trim()
}

/** A Debian with our Node and npm, under the name of the base image. */
function buildBase(): void {
  const tree = join(home, 'debian.tar')
  const include = '--include=ca-certificates,libstdc++6'
  execFileSync('mmdebstrap', ['--variant=minbase', include, 'bookworm', tree], { stdio: 'ignore' })
  const container = buildah('from', 'scratch')
  buildah('add', container, tree, '/')
  buildah('copy', container, process.execPath, '/usr/bin/node')
  const npm = join(process.execPath, '../../lib/node_modules/npm')
  buildah('copy', container, npm, '/usr/lib/node_modules/npm')
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/bin/npm'
  buildah('run', '--isolation', 'chroot', container, 'sh', '-c', link)
  buildah('commit', container, BASE)
}

/** npm in the image asks the registry as npm here does, with this machine's authorities. */
function volumes(): string[] {
  const settings = join(home, 'npmrc')
  const own = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim()
  const authorities = '/etc/ssl/certs/ca-certificates.crt'
  const text = existsSync(own) ? readFileSync(own, 'utf8') : ''
  writeFileSync(settings, `${text}\ncafile=${authorities}\n`)
  return ['--volume', `${settings}:/root/.npmrc:ro`, '--volume', '/etc/ssl:/etc/ssl:ro']
}

type Mount = { destination: string; type: string; source: string; options?: string[] }

/** The container as `docker run --read-only --cap-drop ALL --network host` would run it. */
function writeBundle(folder: string, environment: Readonly<Record<string, string>>): void {
  execFileSync('runc', ['spec'], { cwd: folder })
  const file = join(folder, 'config.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  const image = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)).OCIv1.config
  expect(image.User).toBe(`${USER}:${USER}`)
  const own = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  config.process = {
    ...config.process,
    terminal: false,
    user: { uid: USER, gid: USER },
    args: [...image.Entrypoint, ...image.Cmd],
    env: [...image.Env, ...own],
    cwd: image.WorkingDir,
    capabilities: none,
    noNewPrivileges: true,
  }
  config.root = { path: root, readonly: true }
  config.linux.namespaces = config.linux.namespaces.filter(
    ({ type }: { type: string }) => type !== 'network',
  )
  const mounts: Mount[] = [
    { destination: '/tmp', type: 'tmpfs', source: 'tmpfs' },
    {
      destination: '/run/secrets',
      type: 'bind',
      source: join(folder, 'secrets'),
      options: ['bind', 'ro'],
    },
  ]
  config.mounts.push(...mounts)
  writeFileSync(file, JSON.stringify(config))
}

describe.skipIf(!isWanted)('the image (npm run test:image)', () => {
  const database = useDatabase()
  let chain: PublicChain
  let forwarder: Server

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'purser-image-'))
    buildBase()
    const build = ['build', '--pull=never', '--isolation', 'chroot', '--format', 'docker']
    buildah(...build, ...volumes(), '--tag', IMAGE, '--file', 'Dockerfile', resolve('.'))
    root = buildah('mount', buildah('from', '--pull=never', IMAGE))
    chain = await startPublicChain(CHAIN_ID)
    forwarder = await openForwarder()
  }, 1_200_000)

  afterAll(async () => {
    await chain?.stop()
    forwarder?.close()
    if (home === '') return
    buildah('rm', '--all')
    buildah('rmi', '--all', '--force')
    rmSync(home, { recursive: true, force: true })
  })

  /** The tests' server has a socket for root alone; the container comes by TCP. */
  async function openForwarder(): Promise<Server> {
    const { connection } = database()
    if (!('socketFolder' in connection)) throw new Error('The tests use a socket.')
    const socket = join(connection.socketFolder, '.s.PGSQL.5432')
    const server = createServer((incoming) => {
      const outgoing = connect(socket)
      incoming.pipe(outgoing).pipe(incoming)
      for (const each of [incoming, outgoing]) each.on('error', () => each.destroy())
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return server
  }

  test('holds what runs, without the development parts, and says in its SBOM what that is', () => {
    const packages = join(root, 'app/node_modules')
    const optional = Object.keys(
      JSON.parse(readFileSync('package.json', 'utf8')).optionalDependencies,
    )
    for (const name of [...optional, 'typescript', 'vitest', 'hardhat'])
      expect(existsSync(join(packages, name)), name).toBe(false)
    expect(existsSync(join(root, 'app/test'))).toBe(false)
    const bom = JSON.parse(readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8'))
    expect(bom.bomFormat).toBe('CycloneDX')
    const listed = new Set(
      bom.components.map(({ group, name }: Record<string, string>) =>
        group ? `${group}/${name}` : name,
      ),
    )
    const installed = readdirSync(packages)
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) =>
        name.startsWith('@')
          ? readdirSync(join(packages, name)).map((inner) => `${name}/${inner}`)
          : [name],
      )
    expect(installed.length).toBeGreaterThan(20)
    expect(installed.filter((name) => !listed.has(name))).toEqual([])
  })

  test('serves as a user without rights on a file system that it cannot write', async () => {
    const bundle = join(home, 'bundle')
    mkdirSync(join(bundle, 'secrets'), { recursive: true })
    const { port } = forwarder.address() as { port: number }
    const { connection } = database()
    const name = 'socketFolder' in connection ? connection.database : ''
    const secrets = {
      database_url: `postgres://purser@127.0.0.1:${port}/${name}`,
      master_key: '5e'.repeat(32),
    }
    for (const [file, text] of Object.entries(secrets))
      writeFileSync(join(bundle, 'secrets', file), text)
    const chains = [{ chainId: CHAIN_ID, rpcUrls: [chain.rpcUrl], executorKeys: [devKey(1)] }]
    writeBundle(bundle, {
      PURSER_PORT: '0',
      PURSER_CHAINS: JSON.stringify(chains),
      PURSER_DATABASE_URL_FILE: '/run/secrets/database_url',
      PURSER_MASTER_KEY_FILE: '/run/secrets/master_key',
    })
    const runc = ['--root', join(home, 'runc')]
    const container = `purser-${process.pid}`
    const child = spawn('runc', [...runc, 'run', '--bundle', bundle, container])
    const ended = once(child, 'exit')
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    try {
      await until(async () => output.includes('Purser is ready') || child.exitCode !== null)
      const [, ready = ''] = /Purser is ready at http:\/\/[^:]+:(\d+)/.exec(output) ?? []
      expect(ready, output).not.toBe('')
      await until(
        async () => (await fetch(`http://127.0.0.1:${ready}/health/ready`)).status === 200,
      )
      const inside = (command: string) =>
        execFileSync('runc', [...runc, 'exec', container, 'sh', '-c', `${command} 2>&1 || true`], {
          encoding: 'utf8',
        }).trim()
      expect(inside('id -u')).toBe(String(USER))
      for (const place of ['/app/x', '/data/x', '/etc/x'])
        expect(inside(`touch ${place}`)).toContain('Read-only file system')
      expect(inside('grep CapEff /proc/self/status')).toMatch(/\t0{16}$/)
      expect(inside('grep NoNewPrivs /proc/self/status')).toMatch(/\t1$/)
    } finally {
      execFileSync('runc', [...runc, 'kill', container, 'TERM'])
    }
    expect(await ended).toEqual([0, null])
  })
})
