import { readFileSync } from 'node:fs'
import { type RunningService, startService, urlOf } from './startPurser.js'

/** One process of several that share a database; it is killed, paused and started again at will. */
export type Replica = {
  readonly role: 'api' | 'bundler'
  /** Where it answers, or answered last. */
  url(): string
  isRunning(): boolean
  start(): Promise<void>
  /** Ends it and waits until it is gone; a paused one can only be killed. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Stops it where it stands, until `resume`. */
  pause(): void
  resume(): void
  /** Whether it stands where it was stopped, by `pause` or by itself. */
  isPaused(): boolean
  /** What it printed since it was started last. */
  output(): string
}

export function createReplica(
  role: Replica['role'],
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Replica {
  let service: RunningService | undefined
  let url = ''
  const all = ['serve', '--role', role, '--port', '0', ...args]
  return {
    role,
    url: () => url,
    isRunning: () => service !== undefined,
    async start() {
      service = await startService(all, environment)
      url = urlOf(service)
    },
    async end(signal) {
      const ending = service
      service = undefined
      if (!ending) return
      ending.process.kill('SIGCONT')
      await ending.end(signal)
    },
    pause: () => service?.process.kill('SIGSTOP'),
    resume: () => service?.process.kill('SIGCONT'),
    isPaused() {
      const pid = service?.process.pid
      return pid !== undefined && /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    },
    output: () => service?.output() ?? '',
  }
}
