import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { blocksOf } from '../docs/pages.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/*
 * What docs/operate/install.md prints for two hosts, done on one: the folders of a host lie below one folder, both "hosts" listen on
 * loopback, nginx listens on a Unix socket, and the chain is a development chain. The packed program is unpacked next to the
 * packages of this checkout (test/lifecycle/packed.test.ts installs it), and the database (step 2) is the tests' own.
 */
const run = promisify(execFile)
const PAGE = 'docs/operate/install.md'
const UNIT = 'deploy/systemd/purser.service'
const CHAIN_ID = 1_710
/** As Debian installs it. */
const NGINX = '/usr/sbin/nginx'
const hasPrograms = existsSync(NGINX) && existsSync('/usr/bin/openssl')

describe.skipIf(!hasPrograms)(
  'a host as docs/operate/install.md makes it (skipped where nginx or openssl is not installed)',
  () => {
    const external = useDatabase()
    const root = makeDataFolder()
    const secrets = join(root, 'etc/purser/secrets')
    const children: ChildProcess[] = []
    let chain: PublicChain
    /** What stands for a client's way to the proxy: the test's clients speak plain HTTP. */
    let forwarder: Server
    /** How the proxy is reached. */
    let proxy: RequestOptions = {}
    let apiKey = ''

    /** The text of the page with the folders of the host below `root`. */
    const onHost = (text: string) =>
      text.replaceAll(/(^|[\s=:"])\/(opt|etc|usr\/local\/bin)(?=\/)/gm, `$1${root}/$2`)

    /** The block of the page that has the words. */
    const printed = (words: string): string => {
      const block = blocksOf(PAGE).find(({ text }) => text.includes(words))
      if (block === undefined) throw new Error(`${PAGE} prints nothing with "${words}"`)
      return onHost(block.text)
    }

    /** Does what the page prints, as the user of that host; later blocks see what earlier ones exported. */
    const walk = async (words: string, replaced: readonly [string, string][] = []) => {
      const text = replaced.reduce((script, [from, to]) => {
        if (!script.includes(from)) throw new Error(`${words}: no ${from}`)
        return script.replaceAll(from, () => to)
      }, printed(words))
      const variables = join(root, 'variables')
      const script = `touch ${variables}; . ${variables}\n${text}\nexport -p > ${variables}`
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env })
      return stdout
    }
    const foreign =
      /^(npm_(?!config_)|VITEST|NODE_(?!EXTRA_CA)|DATABASE_URL|PURSER_(?!TEST_RUN)|OTEL_)/
    const env: NodeJS.ProcessEnv = {
      ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
      PATH: `${root}/usr/local/bin:${process.env.PATH}`,
    }

    /** What step 1 leaves, without a registry of packages. */
    const install = async () => {
      const program = join(root, 'opt/purser/node_modules/purser')
      const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', root]
      const [{ filename }] = JSON.parse((await run('npm', pack)).stdout)
      mkdirSync(program, { recursive: true })
      const unpack = ['-xzf', join(root, filename), '-C', program, '--strip-components', '1']
      await run('tar', unpack)
      symlinkSync(resolve('node_modules'), join(program, 'node_modules'))
      mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
      symlinkSync(join(program, 'dist/cli.js'), join(root, 'usr/local/bin/purser'))
      chmodSync(join(program, 'dist/cli.js'), 0o755)
    }

    /** Starts what the unit starts, as systemd would, on an address of its own. */
    const startReplica = async (name: string) => {
      const unit = onHost(readFileSync(UNIT, 'utf8')).replaceAll('%d', secrets)
      const [, line = ''] = /^ExecStart=\/usr\/bin\/node (.*)$/m.exec(unit) ?? []
      const settings = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, key, value]) => [
        key,
        value,
      ])
      const state = join(root, name)
      mkdirSync(state)
      const own = { PURSER_DATA: state, PURSER_HOST: '127.0.0.1', PURSER_PORT: '0' }
      const child = spawn(process.execPath, line.split(' '), {
        cwd: state,
        env: { ...env, ...Object.fromEntries(settings), ...own },
      })
      children.push(child)
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk) => {
          output += chunk
        })
      const host = await until(async () => {
        if (child.exitCode !== null) throw new Error(output)
        return /Purser is ready at http:\/\/(\S+)/.exec(output)?.[1]
      })
      return { child, host }
    }

    beforeAll(async () => {
      chain = await startPublicChain(CHAIN_ID)
      // The key of anvil's account 1, as ethers encrypts it.
      copyFileSync('test/deploy/executorKeystore.json', join(root, 'executor.json'))
      writeFileSync(join(root, 'executor.password'), 'a password')
      for (const place of ['conf.d', 'tls'])
        mkdirSync(join(root, 'etc/nginx', place), { recursive: true })
      await install()
    })

    afterAll(async () => {
      forwarder?.close()
      for (const child of children.reverse())
        if (child.exitCode === null && child.signalCode === null) {
          const ended = once(child, 'exit')
          child.kill('SIGTERM')
          await ended
        }
      await chain?.stop()
      removeDataFolder(root)
    })

    /** nginx with the page's file, on a Unix socket. @returns where the test's clients reach it */
    const startProxy = async (hosts: readonly string[]): Promise<string> => {
      const tls = join(root, 'etc/nginx/tls')
      const name = ['-subj', '/CN=purser.example', '-addext', 'subjectAltName=DNS:purser.example']
      const files = ['-keyout', join(tls, 'purser.key'), '-out', join(tls, 'purser.crt')]
      execFileSync(
        'openssl',
        ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...name, ...files],
        { stdio: 'ignore' },
      )
      const socketPath = join(root, 'nginx.sock')
      const [first = '', second = ''] = hosts
      const file = printed('upstream purser')
        .replace('10.0.0.11:4337', first)
        .replace('10.0.0.12:4337', second)
        .replace('listen 443 ssl', `listen unix:${socketPath} ssl`)
        .replace('allow 10.0.0.0/8', 'allow unix:')
      writeFileSync(join(root, 'etc/nginx/conf.d/purser.conf'), file)
      const user = process.getuid?.() === 0 ? 'user root;' : ''
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const conf = join(root, 'nginx.conf')
      writeFileSync(
        conf,
        `${user} daemon off; pid ${root}/nginx.pid; events {}
http {
  ${temporary.map((each) => `${each}_temp_path ${root}/nginx-${each};`).join(' ')}
  include ${root}/etc/nginx/conf.d/*.conf;
}`,
      )
      const child = spawn(NGINX, ['-p', root, '-e', join(root, 'nginx.log'), '-c', conf])
      children.push(child)
      await until(async () => {
        if (child.exitCode !== null) throw new Error(readFileSync(join(root, 'nginx.log'), 'utf8'))
        return existsSync(socketPath)
      })
      const ca = readFileSync(join(tls, 'purser.crt'))
      proxy = { socketPath, servername: 'purser.example', ca }
      forwarder = openForwarder(proxy)
      await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve))
      return `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`
    }

    /** A request over a WebSocket through the proxy, as viem's transport sends it. */
    const askBySocket = async (method: string): Promise<unknown> => {
      const socket = new WebSocket(`wss://purser.example/api/v3/${CHAIN_ID}/${apiKey}`, {
        createConnection: () => connect({ ...proxy, path: proxy.socketPath } as ConnectionOptions),
      })
      await once(socket, 'open')
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }))
      const [answer] = await once(socket, 'message')
      socket.close()
      await once(socket, 'close')
      return JSON.parse(String(answer)).result
    }

    /** What the page does for the first operator, then what the console does with the printed link. */
    const signInBehind = async (front: string) => {
      const made = await walk('purser user create --operator')
      expect(made).toContain('at https://purser.example/console/setup#')
      const [, token] = /^token +(\S+)$/m.exec(made) ?? []
      const console = await fetch(`${front}/console/setup`)
      expect(console.status).toBe(200)
      expect(await console.text()).toContain('<title>Purser</title>')
      const headers = {
        'content-type': 'application/json',
        origin: 'https://purser.example',
        'sec-fetch-site': 'same-origin',
      }
      const post = (path: string, body: object) =>
        fetch(`${front}/admin/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const password = 'a long enough passphrase of the operator'
      expect((await post('/invitations/accept', { token, password })).status).toBeLessThan(300)
      const signedIn = await post('/session', { email: 'you@example.com', password })
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
      expect(cookie).toMatch(/^__Host-/)
      const session = await fetch(`${front}/admin/v1/session`, { headers: { cookie } })
      expect(await session.json()).toMatchObject({ user: { isOperator: true } })
    }

    test('serves operations through nginx with TLS, and goes on when one of two replicas has ended', async () => {
      await walk('purser keys new', [
        [
          'postgres://purser:secret@10.0.0.10:5432/purser?sslmode=verify-full',
          databaseUrlOf(external()),
        ],
      ])
      const shown = JSON.parse(
        printed('"executorKeys"').replaceAll('/run/credentials/purser.service', secrets),
      )
      const [{ executorKeys }] = shown.chains
      const own = {
        chainId: CHAIN_ID,
        rpcUrls: [chain.rpcUrl],
        facts: { pollInterval: 50 },
        executorKeys,
      }
      // Where it is ready is read from what it prints, which is publicUrl where that is set.
      const { publicUrl: adminUrl, ...known } = shown
      const settings = { ...known, adminUrl, trustedProxies: ['127.0.0.1'], chains: [own] }
      writeFileSync(join(root, 'etc/purser/purser.json'), JSON.stringify(settings))
      await walk('purser migrate')
      const replicas = [await startReplica('first'), await startReplica('second')]
      const created = await walk('purser account create')
      apiKey = /^apiKey +(\S+)$/m.exec(created)?.[1] ?? ''

      const front = await startProxy(replicas.map(({ host }) => host))
      const view = clientView(chain, front, apiKey)
      const include = async (seed: string) => {
        const account = await devAccount(view, seed)
        const hash = await account.send(await account.selfPaid())
        expect((await receiptOf(view, hash)).success).toBe('true')
      }
      await include('two replicas')
      expect(await askBySocket('eth_chainId')).toBe(`0x${CHAIN_ID.toString(16)}`)
      expect((await fetch(`${front}/metrics`)).status).toBe(404)
      await signInBehind(front)

      const bundling = await Promise.all(replicas.map(({ host }) => bundlesHere(host)))
      expect(bundling.filter(Boolean)).toHaveLength(1)
      const [leader] = replicas.filter((_, number) => bundling[number])
      const ended = once(leader!.child, 'exit')
      leader!.child.kill('SIGTERM')
      await include('while one ends')
      expect(await ended).toEqual([0, null])
      await include('one replica')
    })
  },
)

async function bundlesHere(host: string): Promise<boolean> {
  const answer = await fetch(`http://${host}/health/ready`)
  const { chains } = (await answer.json()) as { chains: Record<string, { bundlesHere: boolean }> }
  return chains[CHAIN_ID]?.bundlesHere === true
}

/** Plain HTTP for whom it passes on by TLS, whose certificate is verified. */
function openForwarder(tls: RequestOptions): Server {
  return createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const forwarded = request({
      ...tls,
      method,
      path,
      headers: { ...headers, host: 'purser.example' },
    })
    forwarded.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
}
