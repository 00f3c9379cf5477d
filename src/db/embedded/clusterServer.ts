import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError } from '../../base/errors/configError.js'
import { type Cluster, here, lastWords, spawnOptions } from './postgresCluster.js'

const settings = {
  listen_addresses: '',
  // In the cluster's folder, which PostgreSQL itself demands to be closed to other users, and named
  // by a path that is short however long the folder's is.
  unix_socket_directories: '.',
  unix_socket_permissions: '0700',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '128MB',
  // The first change of a page after a checkpoint writes the page whole. Keys are hashes, so under load most inserts
  // touch another page: with checkpoints each 3 to 5 minutes, the default, up to half of the log was whole pages.
  checkpoint_timeout: '15min',
  max_wal_size: '4GB',
  max_connections: '60',
  max_parallel_workers_per_gather: '0',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  io_method: 'sync',
  jit: 'off',
  // Tables of a new cluster grow from nothing to thousands of rows within seconds; until they are
  // analysed for the first time, plans are guesses.
  autovacuum_naptime: '5s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Failed statements are reported to their clients.
  log_min_messages: 'log',
}

/** The log starts anew beyond this many bytes. */
const LONGEST_LOG = 1_000_000

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Is process `pid` the server of the cluster in `folder`? A pid file that was left behind may name
 * any process: in a container the same few numbers come again after each start.
 */
function servesCluster(pid: number, folder: string): boolean {
  if (process.platform !== 'linux') return isAlive(pid)
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false
    const [workingFolder, ourFolder] = [statSync(`/proc/${pid}/cwd`), statSync(folder)]
    return workingFolder.ino === ourFolder.ino && workingFolder.dev === ourFolder.dev
  } catch (error) {
    // We may not be allowed to look. Processes that ended, and zombies, have no such files.
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

function pidFile(folder: string): string {
  return join(folder, 'postmaster.pid')
}

function recordedPid(folder: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(pidFile(folder), 'utf8'), 10)
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

/** The process that serves the cluster in `folder`, started by us or not. */
export function serverPid(folder: string): number | undefined {
  const pid = recordedPid(folder)
  return pid !== undefined && servesCluster(pid, folder) ? pid : undefined
}

/**
 * Removes a pid file that names another process than a server of this cluster: PostgreSQL takes any live
 * process of its own user in it for another server.
 */
function removeMisleadingPid(folder: string): void {
  const pid = recordedPid(folder)
  if (pid !== undefined && isAlive(pid) && !servesCluster(pid, folder)) rmSync(pidFile(folder))
}

/** A server that we started. */
export type ClusterServer = {
  readonly pid: number | undefined
  readonly isRunning: () => boolean
  /** It ended because a process that left the cluster stopped it (see endServer). */
  readonly wasEnded: () => boolean
  /** The reason of its end, in PostgreSQL's words. */
  readonly lastWords: () => string
  /** Ends it at once. What was committed is recovered at the next start. */
  readonly abort: () => void
}

/**
 * Starts the cluster's server; it may still be recovering when this returns.
 * @throws ConfigError when the program cannot be run
 */
export async function spawnServer(cluster: Cluster): Promise<ClusterServer> {
  const { folder, log, binaries } = cluster
  removeMisleadingPid(folder)
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  const start = size > LONGEST_LOG ? 0 : size
  const output = openSync(log, start === 0 ? 'w' : 'a', 0o600)
  const { access } = cluster
  // Its user may not be able to walk to these files, so the server inherits them open.
  const inherited = access ? [access.hba, access.ident].map((path) => openSync(path, 'r')) : []
  const files = access && { hba_file: '/proc/self/fd/3', ident_file: '/proc/self/fd/4' }
  const options = Object.entries({ ...settings, ...files }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  try {
    const child = spawn(binaries.postgres, ['-D', here ?? folder, ...options], {
      ...spawnOptions(cluster, folder),
      stdio: ['ignore', output, output, ...inherited],
      // A group of its own: Ctrl-C in the terminal ends Purser, and Purser ends its database.
      detached: true,
    })
    await once(child, 'spawn')
    child.unref()
    const messages = () => readFileSync(log).subarray(start).toString()
    return {
      pid: child.pid,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      wasEnded: () =>
        child.exitCode === 0 ||
        child.signalCode === 'SIGKILL' ||
        // In the midst of its start, or by SIGQUIT, it ends with 1 like one that cannot start.
        /received (?:fast|immediate) shutdown request/.test(messages()),
      lastWords: () => lastWords(messages()),
      abort: () => child.kill('SIGQUIT'),
    }
  } catch (error) {
    throw new ConfigError(
      `PostgreSQL (${binaries.postgres}) cannot be run here; set DATABASE_URL to a server.`,
      { cause: error },
    )
  } finally {
    for (const descriptor of [output, ...inherited]) closeSync(descriptor)
  }
}

/** SIGINT disconnects everyone and writes a checkpoint; a slow disk must not hold us for long. */
const endings = [
  ['SIGINT', 2_000],
  ['SIGQUIT', 600],
  ['SIGKILL', 400],
] as const

/**
 * Ends server `pid` of the cluster within 3 s. The harder endings lose nothing committed either.
 */
export async function endServer(folder: string, pid: number): Promise<void> {
  for (const [signal, patience] of endings) {
    if (!servesCluster(pid, folder)) return
    process.kill(pid, signal)
    const until = Date.now() + patience
    while (servesCluster(pid, folder) && Date.now() < until) await delay(10)
  }
}
