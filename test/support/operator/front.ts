import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { until } from '../until.js'

/** A request as a client saw it answered. */
export type Answered = {
  readonly chainId: number
  readonly method: string
  /** HTTP; 0 = the connection broke. */
  readonly status: number
  /** JSON-RPC; undefined = a result. */
  readonly code: number | undefined
  readonly message: string
  /** What the operator did when the request came, and when it was answered. */
  readonly during: readonly string[]
}

/** The one address of several replicas: nginx where it is installed, else the next replica in turn. */
export type Front = {
  readonly url: string
  readonly kind: 'nginx' | 'in turn'
  readonly answered: readonly Answered[]
  /** Sends requests to these replicas from here on. */
  use(urls: readonly string[]): Promise<void>
  stop(): Promise<void>
}

type Whole = { readonly status: number; readonly body: Buffer }

/** @param now names what the operator does at the moment */
export async function startFront(folder: string, now: () => string): Promise<Front> {
  const answered: Answered[] = []
  const nginx = NGINX === undefined ? undefined : createNginx(NGINX, folder)
  const inTurn = createTurns()
  const forward = (path: string, body: Buffer): Promise<Whole> =>
    nginx === undefined ? inTurn.forward(path, body) : nginx.forward(path, body)

  const server = createServer(async (incoming, response) => {
    const before = now()
    const body = await wholeOf(incoming)
    const path = incoming.url ?? ''
    const answer = await forward(path, body).catch(() => ({ status: 0, body: Buffer.alloc(0) }))
    answered.push({ ...describe(path, body, answer), during: [before, now()] })
    if (answer.status === 0) response.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kind: nginx === undefined ? 'in turn' : 'nginx',
    answered,
    async use(urls) {
      inTurn.use(urls)
      await nginx?.use(urls)
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await nginx?.stop()
    },
  }
}

function describe(path: string, body: Buffer, { status, body: answer }: Whole) {
  const { method } = JSON.parse(body.toString()) as { method: string }
  const chainId = Number(path.split('/')[3])
  let error: { code: number; message: string } | undefined
  try {
    error = JSON.parse(answer.toString()).error
  } catch {
    // nginx answers with a page of its own.
  }
  return { chainId, method, status, code: error?.code, message: error?.message ?? '' }
}

async function wholeOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function post(
  target: { readonly socketPath: string } | { readonly host: string; readonly port: string },
  path: string,
  body: Buffer,
): Promise<Whole> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const sent = request({ ...target, path, method: 'POST', headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await wholeOf(response) }
}

/** The next replica in turn, and those after it while one is away or not ready. */
function createTurns() {
  let urls: readonly string[] = []
  let turn = 0
  return {
    use(next: readonly string[]) {
      urls = next
    },
    async forward(path: string, body: Buffer): Promise<Whole> {
      let last: Whole = { status: 502, body: Buffer.alloc(0) }
      for (let tries = 0; tries < urls.length; tries++) {
        turn += 1
        const { hostname: host, port } = new URL(urls[turn % urls.length] ?? '')
        last = await post({ host, port }, path, body).catch(() => ({ ...last, status: 502 }))
        if (last.status !== 502 && last.status !== 503) return last
      }
      return last
    },
  }
}

/** As Debian installs it. */
const NGINX = ['/usr/sbin/nginx'].find((path) => existsSync(path))

/** An nginx on a Unix socket, so that no port can be taken by somebody else. */
function createNginx(program: string, folder: string) {
  const socketPath = join(folder, 'nginx.sock')
  const file = join(folder, 'nginx.conf')
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    child = spawn(program, ['-p', folder, '-c', file], { stdio: 'ignore' })
    const ended = once(child, 'exit').then(() => Promise.reject(new Error('nginx did not start')))
    await Promise.race([until(async () => existsSync(socketPath)), ended])
    ended.catch(() => {})
  }

  return {
    forward: (path: string, body: Buffer) => post({ socketPath }, path, body),
    async use(urls: readonly string[]) {
      writeFileSync(file, configuration(folder, socketPath, urls))
      if (child === undefined) await start()
      else child.kill('SIGHUP')
    },
    async stop() {
      if (child === undefined || child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A request that a replica cannot answer goes to the next one: sending an operation again changes nothing. */
function configuration(folder: string, socketPath: string, urls: readonly string[]): string {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const servers = urls.map((url) => `server ${new URL(url).host} max_fails=0;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${user} daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 512; }
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/nginx-${name};`).join(' ')}
  upstream purser { ${servers.join(' ')} }
  server {
    listen unix:${socketPath};
    location / {
      proxy_pass http://purser;
      proxy_connect_timeout 2s;
      proxy_read_timeout 60s;
      proxy_next_upstream error timeout http_502 http_503 non_idempotent;
    }
  }
}
`
}
