import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A process id may be given to another process later; together with its command line it is ours. */
export type ProcessIdentity = { readonly pid: number; readonly commandLine: string }

/**
 * The command line of a living process, its arguments joined by spaces; undefined when no process
 * has this id. A zombie has none.
 */
export function commandLineOf(pid: number): string | undefined {
  try {
    const line =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ')
        : execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return line === '' ? undefined : line
  } catch {
    return undefined
  }
}

/** Sends the signal if the process is still the one meant. */
export function signalProcess(
  { pid, commandLine }: ProcessIdentity,
  signal: 'SIGTERM' | 'SIGKILL',
): void {
  if (commandLineOf(pid) !== commandLine) return
  try {
    process.kill(pid, signal)
  } catch (error) {
    const endedMeanwhile = (error as NodeJS.ErrnoException).code === 'ESRCH'
    if (!endedMeanwhile) throw error
  }
}

/** Its memory, and with it the command line, goes before its files and ports do. */
function isEnding(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !['Z', 'X'].includes(stat.charAt(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

const GRACE_MS = 1_000

/** Returns when the process is gone: SIGTERM first, SIGKILL after a second. */
export async function endProcess(identity: ProcessIdentity): Promise<void> {
  // What has no command line from the first may be anything, such as a thread of the kernel.
  if (commandLineOf(identity.pid) !== identity.commandLine) return
  const lives = () => {
    const line = commandLineOf(identity.pid)
    return line === undefined ? isEnding(identity.pid) : line === identity.commandLine
  }
  const deadline = Date.now() + GRACE_MS
  signalProcess(identity, 'SIGTERM')
  while (lives() && Date.now() < deadline) await delay(10)
  signalProcess(identity, 'SIGKILL')
  while (lives()) await delay(10)
}
