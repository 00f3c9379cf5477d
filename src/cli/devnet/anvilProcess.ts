import { type ChildProcess, spawn } from 'node:child_process'
import { guard, type Watchdog } from '../../base/watchdog.js'
import { anvilBinary } from './anvilBinary.js'
import { anvilClient } from './anvilClient.js'
import { DevChainError } from './devChainError.js'
import { endProcess, type ProcessIdentity } from './processIdentity.js'

export type AnvilProcess = ProcessIdentity & {
  /** Ends it after us, also when we are killed. */
  readonly watchdog: Watchdog
}

const START_LIMIT_MS = 30_000

/** The port that was asked for belongs to somebody else. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'
}

/**
 * Runs anvil with `args` and waits until it listens on the loopback interface. It names its port
 * in its banner, so port 0 (any) needs no guess; after that it prints nothing more. It gets a
 * session of its own: Ctrl-C in the terminal is ours to handle.
 * @param onSpawn - called at once, before anvil is ready
 * @throws PortTakenError; DevChainError with anvil's own words. No process is left behind.
 */
export async function launchAnvil(
  args: readonly string[],
  port: number,
  onSpawn: (anvil: AnvilProcess) => void,
): Promise<AnvilProcess & { readonly port: number }> {
  const binary = anvilBinary()
  const allArgs = ['--host', '127.0.0.1', '--port', String(port), '--prune-history', '64', ...args]
  const child = spawn(binary, allArgs, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const listening = portOf(child)
  // Awaited below; a failure in between must not count as unhandled.
  listening.catch(() => undefined)
  if (child.pid === undefined) throw await listening.catch((error) => error)

  const commandLine = [binary, ...allArgs].join(' ')
  const anvil = { pid: child.pid, commandLine, watchdog: guardAnvil(child.pid) }
  try {
    onSpawn(anvil)
    const actual = await listening
    await anvilClient(`http://127.0.0.1:${actual}`).setLoggingEnabled(false)
    return { ...anvil, port: actual }
  } catch (error) {
    await endProcess(anvil)
    await anvil.watchdog.dismiss()
    throw error
  }
}

export function guardAnvil(pid: number): Watchdog {
  return guard({ pid, program: 'anvil', usedBy: '', signal: 'TERM' })
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let banner = ''
    let complaint = ''
    const limit = setTimeout(
      () =>
        reject(new DevChainError('The embedded chain did not answer within 30 s of its start.')),
      START_LIMIT_MS,
    )
    const fail = (error: Error): void => {
      clearTimeout(limit)
      reject(error)
    }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (banner.length > 10_000) return
      banner += text
      const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(banner)?.[1]
      if (port === undefined) return
      clearTimeout(limit)
      resolve(Number(port))
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2_000)
    })
    child.once('error', (error) =>
      fail(new DevChainError(`The embedded chain cannot be run: ${error.message}`)),
    )
    child.once('close', () => {
      const reason = complaint.trim().split('\n')[0] || 'anvil gave no reason.'
      const isPortTaken = /address already in use/i.test(complaint)
      fail(
        isPortTaken
          ? new PortTakenError()
          : new DevChainError(`The embedded chain ended: ${reason}`),
      )
    })
  })
}
