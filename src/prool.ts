import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where an instance listens, and the node whose chain it serves. */
export type PurserParameters = {
  /** An anvil of its own for each instance: two on one chain would send from the same accounts. */
  readonly rpcUrl: string
  readonly host?: string | undefined
  /** 4337 by default; prool gives each instance of a pool its own. */
  readonly port?: number | undefined
}

type Emitter = { emit(event: 'message' | 'stdout' | 'stderr', text: string): unknown }

type Running = { readonly service: ChildProcess; readonly front: Server; readonly folder: string }

/**
 * An instance for prool: `Instance.define(purser)({ rpcUrl })` starts `purser dev` on that anvil. The
 * instance's URL, without a path, is that of bundler and paymaster in the standard dialect, with a key whose tanks are filled. All
 * other paths are those of the service.
 */
export function purser({ rpcUrl, host = '127.0.0.1', port = 4337 }: PurserParameters) {
  let running: Running | undefined
  return {
    name: 'purser',
    host,
    port,
    async start(
      { port: wanted = port }: { port?: number | undefined },
      { emitter }: { emitter: Emitter },
    ): Promise<void> {
      const folder = await mkdtemp(join(tmpdir(), 'purser-prool-'))
      const service = startDev(folder, rpcUrl)
      try {
        await untilReady(service, emitter)
        const info = JSON.parse(await readFile(join(folder, 'dev.json'), 'utf8')) as Info
        running = { service, folder, front: await listen(new URL(info.standardUrl), host, wanted) }
      } catch (error) {
        await end(service, folder)
        throw error
      }
    },
    async stop(): Promise<void> {
      if (running === undefined) return
      const { service, front, folder } = running
      running = undefined
      front.close()
      front.closeAllConnections()
      await end(service, folder)
    },
  }
}

type Info = { readonly standardUrl: string }

function startDev(folder: string, rpcUrl: string): ChildProcess {
  const cli = fileURLToPath(new URL('cli.js', import.meta.url))
  const flags = ['--data', folder, '--port', '0', '--rpc-url', rpcUrl, '--log-level', 'warn']
  // Nothing of the caller's own Purser, of whose database it would become part.
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^(PURSER_|DATABASE_URL$)/.test(name),
  )
  return spawn(process.execPath, [cli, 'dev', ...flags], {
    env: Object.fromEntries(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Throws with what the service printed when it ends before it is ready. */
async function untilReady(service: ChildProcess, emitter: Emitter): Promise<void> {
  let output = ''
  const ready = new Promise<void>((resolve) => {
    for (const name of ['stdout', 'stderr'] as const)
      service[name]?.setEncoding('utf8').on('data', (text: string) => {
        emitter.emit('message', text)
        emitter.emit(name, text)
        if (output.length < 10_000) output += text
        if (output.includes('Purser is ready')) resolve()
      })
  })
  const ended = once(service, 'exit').then(([code]) => {
    throw new Error(`purser dev ended with ${code}:\n${output}`)
  })
  // After the start its end is no failure of the start.
  ended.catch(() => undefined)
  await Promise.race([ready, ended])
}

/** Passes requests on; those without a path to the JSON-RPC of the standard dialect. */
async function listen(standard: URL, host: string, port: number): Promise<Server> {
  const front = createServer((incoming, outgoing) => {
    const path = incoming.url === '/' ? standard.pathname : incoming.url
    const { method, headers } = incoming
    const passed = request(
      { host: standard.hostname, port: standard.port, path, method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  front.listen(port, host)
  await once(front, 'listening')
  return front
}

async function end(service: ChildProcess, folder: string): Promise<void> {
  if (service.exitCode === null && service.signalCode === null) {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
}
