import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { isKept } from '../keptFolders.js'
import { testLog } from '../logger.js'
import { nodeKind } from '../nodes/nodeKind.js'
import { startNode } from '../nodes/startNode.js'

const CLI = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))

/** A service that runs as its own process. */
export type RunningService = {
  readonly process: ChildProcess
  /** Everything the process has printed so far. */
  readonly output: () => string
  /** How the process ended, once it has. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Ends the process and waits until it is gone. */
  readonly end: (signal: NodeJS.Signals) => Promise<{ code: number | null }>
}

export type RunningPurser = RunningService & {
  readonly info: DevInfo
  readonly dataFolder: string
}

type Environment = Readonly<Record<string, string>>

export function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
  chmodSync(folder, 0o711)
  return folder
}

export function removeDataFolder(folder: string): void {
  if (!isKept(folder)) rmSync(folder, { recursive: true, force: true })
}

/**
 * The built command line as its own process.
 * @param cli the program, that of this checkout by default
 */
export function spawnCli(args: readonly string[], environment: Environment = {}, cli = CLI) {
  return spawn(process.execPath, [cli, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs the built command line as its own process and gives what it printed when it ended. */
export async function runCli(
  args: readonly string[],
  environment: Environment = {},
  cli = CLI,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawnCli(args, environment, cli)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/**
 * Starts a command that runs a service and waits until it says that it is ready.
 * @param cli the program, that of this checkout by default
 * @throws Error with all output when it ends before
 */
export async function startService(
  args: readonly string[],
  environment: Environment = {},
  cli = CLI,
): Promise<RunningService> {
  const child = spawnCli(args, environment, cli)
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let output = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        output += `${line}\n`
        if (testLog !== undefined) process.stderr.write(`${line}\n`)
        if (line.includes('Purser is ready')) resolve()
      })
    }
    ended.then(([code, signal]) =>
      reject(new Error(`purser ${args[0]} ended with ${code ?? signal}:\n${output}`)),
    )
  })
  return {
    process: child,
    output: () => output,
    ended: ended.then(([code, signal]) => ({ code, signal })),
    end: async (signal) => {
      child.kill(signal)
      const [code] = await ended
      return { code }
    },
  }
}

/** Where a service says that it answers. */
export function urlOf(service: RunningService): string {
  const url = /Purser is ready at (\S+)/.exec(service.output())?.[1]
  if (url === undefined) throw new Error(`No URL in:\n${service.output()}`)
  return url
}

/** What `purser dev` wrote into its data folder. */
export function readDevInfo(dataFolder: string): DevInfo {
  return JSON.parse(readFileSync(join(dataFolder, 'dev.json'), 'utf8')) as DevInfo
}

const DEV_CHAIN_ID = 31_337

/**
 * Starts `purser dev` on a free port, on its own chain or on a node of the kind that the run asks for.
 * @param cli the program, that of this checkout by default
 */
export async function startPurser(
  dataFolder: string,
  args: readonly string[] = [],
  environment: Environment = {},
  cli = CLI,
): Promise<RunningPurser> {
  const own = ['--data', dataFolder, '--port', '0', '--log-level', testLog ?? 'warn']
  if (nodeKind() === 'anvil' || args.includes('--rpc-url')) {
    const service = await startService(['dev', ...own, ...args], environment, cli)
    return { ...service, dataFolder, info: readDevInfo(dataFolder) }
  }
  const node = await startNode(DEV_CHAIN_ID)
  const flags = ['dev', ...own, '--rpc-url', node.nodeUrl, ...args]
  const service = await startService(flags, environment, cli).catch(async (error) => {
    await node.stop()
    throw error
  })
  service.ended.then(() => node.stop())
  return { ...service, dataFolder, info: { ...readDevInfo(dataFolder), rpcUrl: node.rpcUrl } }
}
