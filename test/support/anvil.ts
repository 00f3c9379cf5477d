import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const require = createRequire(import.meta.url)

export type Anvil = { readonly url: string; readonly pid: number; stop(): Promise<void> }

/** A real anvil on a free port; a block per transaction unless `args` say otherwise. */
export async function startAnvil(args: readonly string[] = []): Promise<Anvil> {
  const port = await freePort()
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const binary = require.resolve(`@foundry-rs/anvil-${platform}/bin/anvil`)
  const child = spawn(
    binary,
    ['--port', String(port), '--prune-history', '64', '--silent', ...args],
    { stdio: 'ignore' },
  )
  const killOnExit = () => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    process.off('exit', killOnExit)
    await end(child)
  }
  try {
    await answering(url, child)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, pid: child.pid ?? 0, stop }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`anvil ended with code ${child.exitCode}`)
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
      const headers = { 'content-type': 'application/json' }
      if ((await fetch(url, { method: 'POST', headers, body })).ok) return
    } catch {
      await delay(20)
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
