import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

/** The name of watchdogs in lists of processes. */
const NAME = 'purser-watchdog'

/** Seconds for which a process that lost its parent waits for another Purser to take it over. */
const GRACE = 10

/**
 * The program of a watchdog, in the shell that every system has. It waits until its input ends, which it does
 * when we end, however that happens. Then it ends process $1, unless that is another program than $3 by then,
 * or has children whose command line holds $4: sessions of others. $6, the process that it works for, is
 * there to be read in its command line.
 */
const PROGRAM = `
cat >/dev/null
sleep "$2"
named() {
  if [ -d /proc/self ]; then tr '\\0' ' ' <"/proc/$1/cmdline"; else ps -ww -o args= -p "$1"; fi 2>/dev/null
}
used() {
  [ -n "$2" ] || return 1
  if [ -d /proc/self ]; then
    for process in /proc/[0-9]*; do
      grep -qaF "$2" "$process/cmdline" 2>/dev/null &&
        grep -q "^PPid:[[:space:]]*$1\\$" "$process/status" 2>/dev/null && return 0
    done
    return 1
  fi
  ps -A -ww -o ppid=,args= | grep "^ *$1 " | grep -qF "$2"
}
while case "$(named "$1")" in *"$3"*) true ;; *) false ;; esac; do
  if used "$1" "$4"; then sleep 2; else kill -"$5" "$1"; exit; fi
done
`

/** The process to end after us. */
type Ward = {
  readonly pid: number
  /** Text of its command line, which distinguishes it from a later process with the same id. */
  readonly program: string
  /** Text in the command lines of its children that keeps it alive; empty = nothing does. */
  readonly usedBy: string
  readonly signal: 'INT' | 'TERM'
}

/** A process that ends another one when we have ended, also when we were killed. */
export type Watchdog = {
  readonly pid: number | undefined
  /** The ward is left alone; resolves when the watchdog is gone. */
  dismiss(): Promise<void>
}

/**
 * Starts a watchdog of the ward, and ends those that killed processes left to it: after this only living
 * ones may end it. Who connects to the ward afterwards and is let in will not lose it to them.
 */
export function guard({ pid, program, usedBy, signal }: Ward): Watchdog {
  const words = [String(pid), String(GRACE), program, usedBy, signal, String(process.pid)]
  const child = spawn('sh', ['-c', PROGRAM, NAME, ...words], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
    // A group of its own: Ctrl-C in the terminal is for us, and the watchdog outlives us.
    detached: true,
  })
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).catch(() => undefined)
  child.unref()
  // Its end breaks the pipe, which must not break us. A pipe of a child is a socket, which has unref.
  child.stdin.on('error', () => {})
  ;(child.stdin as unknown as { unref(): void }).unref()
  endOrphans(pid)
  return {
    pid: child.pid,
    dismiss: async () => {
      // Its end must be waited for, though it keeps nobody waiting as long as it lives.
      child.ref()
      endWatchdog(child.pid)
      await ended
    },
  }
}

/** Ends a watchdog with the programs that it runs; whether it is one has been looked at. */
function endWatchdog(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Ends the watchdogs of process `ward` whose parents have ended: they have other parents now. */
function endOrphans(ward: number): void {
  const watchdog = new RegExp(` ${NAME} ${ward} .* (\\d+)$`)
  for (const { pid, parent, commandLine } of processes()) {
    const owner = watchdog.exec(commandLine)?.[1]
    if (owner !== undefined && Number(owner) !== parent) endWatchdog(pid)
  }
}

type Process = { readonly pid: number; readonly parent: number; readonly commandLine: string }

/** All processes that we may look at. */
function processes(): Process[] {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => {
        const [, pid, parent, commandLine = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []
        return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), commandLine }]
      })
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').replace(/\0$/, '')
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
        const commandLine = words.replaceAll('\0', ' ')
        return [{ pid: Number(name), parent: Number(parent), commandLine }]
      } catch {
        // It ended while we were looking.
        return []
      }
    })
}
