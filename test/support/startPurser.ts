import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DevInfo } from '../../src/cli/devInfo.js'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

export type RunningPurser = {
  readonly info: DevInfo
  readonly process: ChildProcess
  /** Everything the process has printed so far. */
  readonly output: () => string
  /** How the process ended, once it has. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Ends the process and waits until it is gone. */
  readonly end: (signal: NodeJS.Signals) => Promise<{ code: number | null }>
}

export const makeDataFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
  chmodSync(folder, 0o711)
  return folder
}

export const removeDataFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true })

/** Runs the built command line as its own process and gives what it printed when it ended. */
export const runCli = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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
 * Starts `purser dev` as its own process and waits until it says that it is ready.
 * @throws Error with all output when it ends before
 */
export const startPurser = async (
  dataFolder: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningPurser> => {
  const child = spawn(
    process.execPath,
    [CLI, 'dev', '--data', dataFolder, '--port', '0', '--log-level', 'warn', ...args],
    { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  let output = ''
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        output += `${line}\n`
        if (line.includes('Purser is ready')) resolve()
      })
    }
    ended.then(([code, signal]) =>
      reject(new Error(`purser dev ended with ${code ?? signal}:\n${output}`)),
    )
  })
  await ready
  const info = JSON.parse(readFileSync(join(dataFolder, 'dev.json'), 'utf8')) as DevInfo
  return {
    info,
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
