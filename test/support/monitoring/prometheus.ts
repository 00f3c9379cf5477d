import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Json } from '../http/jsonRpc.js'
import { until } from '../until.js'

/** One series of an answer; the value is a text such as `NaN`. */
export type Sample = {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

/** An alert rule as Prometheus has read it. */
export type LoadedRule = {
  readonly name: string
  readonly query: string
  /** `unknown` until it was evaluated. */
  readonly health: 'ok' | 'err' | 'unknown'
  readonly state: 'inactive' | 'pending' | 'firing'
}

export type Prometheus = {
  /** An expression at this moment. @throws Error with the reason when it is refused */
  readonly query: (expr: string) => Promise<readonly Sample[]>
  /** Another question of its API, such as `targets`: the data of the answer. */
  readonly ask: (path: string) => Promise<Json>
  readonly rules: () => Promise<readonly LoadedRule[]>
  readonly stop: () => Promise<void>
}

/** The Prometheus that `PURSER_PROMETHEUS` names, or the one on the path; undefined where there is none. */
export function findPrometheus(): string | undefined {
  const binary = process.env.PURSER_PROMETHEUS ?? 'prometheus'
  try {
    execFileSync(binary, ['--version'], { stdio: 'ignore' })
    return binary
  } catch {
    return undefined
  }
}

/**
 * Starts Prometheus (2.42 or later, 3 too) on a free port and waits until it answers.
 * @param folder where configuration and samples are written; of the caller
 * @throws Error with its log when it ends before
 */
export async function startPrometheus(
  binary: string,
  folder: string,
  config: Json,
): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, stringify(config))
  const child = spawn(
    binary,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'samples')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const ended = once(child, 'exit')
  let log = ''
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const url = await until(async () => {
    if (child.exitCode !== null) throw new Error(log)
    const [, address] = /"Listening on".* address=(\S+)/.exec(log) ?? []
    return log.includes('Server is ready') && address && `http://${address}`
  }).catch(async (cause) => {
    if (child.exitCode === null) await stop()
    throw new Error(log, { cause })
  })

  const ask = async (path: string): Promise<Json> => {
    const answer: Json = await (await fetch(`${url}/api/v1/${path}`)).json()
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`)
    return answer.data
  }
  return {
    ask,
    query: async (expr) => {
      const { resultType, result } = await ask(`query?query=${encodeURIComponent(expr)}`)
      return resultType === 'scalar' ? [{ metric: {}, value: result }] : result
    },
    rules: async () =>
      (await ask('rules')).groups.flatMap(({ rules }: { rules: LoadedRule[] }) => rules),
    stop,
  }
}
