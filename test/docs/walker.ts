import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Block } from './pages.js'

/** A user who does what the pages print, in one folder, with the variables that earlier blocks exported. */
export type Walker = {
  /** @returns one line for the protocol of the walk @throws Error with all output when the block fails */
  walk(block: Block): Promise<string>
  /** Ends every terminal and waits until what ran in it has ended. */
  stop(): Promise<void>
}

const READY = 'Purser is ready'
/** Milliseconds that a terminal has to become ready; a start takes seconds. */
const READY_WITHIN = 120_000
/** Milliseconds of the longest block: npm fetches packages. */
const BLOCK_WITHIN = 300_000

function isInstalled(program: string): boolean {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { env: { PATH: path }, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** @param environment of the user's first shell, `PATH` with the Node to walk on in front */
export function createWalker(folder: string, environment: NodeJS.ProcessEnv): Walker {
  const terminals = new Map<string, ChildProcess>()
  const variables = join(folder, '.walk-variables')
  writeFileSync(variables, '')

  /** A shell in a group of its own, so that its end is the end of all that it started. */
  const shell = (script: string) =>
    spawn('bash', ['-euo', 'pipefail', '-c', `. ${variables}\n${script}`], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })

  async function run(block: Block): Promise<string> {
    const child = shell(`${block.text}\nexport -p > ${variables}`)
    const output = collect(child)
    const clock = setTimeout(() => endGroup(child, 'SIGKILL'), BLOCK_WITHIN)
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(clock)
    if (code !== 0) throw new Error(`${block.page}:${block.line} ended with ${code}\n${output()}`)
    return lastLine(output())
  }

  async function open(name: string, block: Block): Promise<string> {
    await close(name)
    const child = shell(`exec ${block.text.trim().replace(/^((?:[A-Z_]+=\S+ )+)/, 'env $1')}`)
    terminals.set(name, child)
    const output = collect(child)
    const ready = new Promise<void>((resolve, reject) => {
      const clock = setTimeout(() => reject(new Error(`not ready:\n${output()}`)), READY_WITHIN)
      const look = () => {
        if (!output().includes(READY)) return
        clearTimeout(clock)
        resolve()
      }
      child.stdout?.on('data', look)
      child.stderr?.on('data', look)
      child.once('exit', (code) => {
        clearTimeout(clock)
        reject(new Error(`${block.page}:${block.line} ended with ${code}\n${output()}`))
      })
    })
    await ready
    return READY
  }

  async function close(name: string): Promise<void> {
    const child = terminals.get(name)
    terminals.delete(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGINT')
    await ended
  }

  return {
    async walk(block) {
      const { way, page, line, language } = block
      const outcome = await (async () => {
        if (way.kind === 'file') {
          writeFileSync(join(folder, way.name), block.text)
          return `saved as ${way.name}`
        }
        if (way.kind === 'terminal') return open(way.name, block)
        if (way.kind === 'needs' && !isInstalled(way.program))
          return `left out: ${way.program} is not installed`
        if (way.kind === 'run' || way.kind === 'needs') return run(block)
        return `not run: ${way.reason}`
      })()
      return `${page}:${line} (${language}) ${outcome}`
    },
    async stop() {
      for (const name of [...terminals.keys()]) await close(name)
      if (!existsSync(folder)) throw new Error(`The walk removed its own folder ${folder}.`)
    },
  }
}

function collect(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  return () => output
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) process.kill(-child.pid, signal)
}

function lastLine(output: string): string {
  const lines = output.trim().split('\n')
  return (lines.at(-1) ?? '').slice(0, 120)
}
