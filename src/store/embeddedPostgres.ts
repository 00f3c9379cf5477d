import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Connection } from './database.js'
import { type PostgresBinaries, postgresBinaries } from './postgresBinaries.js'

export type EmbeddedPostgres = {
  readonly connection: Connection
  /** Ends the cluster, and with it every session. */
  stop(): Promise<void>
}

const USER = 'purser'
/** Who PostgreSQL runs as when we are root, which it refuses to be. */
const UNPRIVILEGED = 65_534
/** A Unix socket's path may have 107 bytes; this is what the file name takes of them. */
const SOCKET_FILE = '/.s.PGSQL.5432'

const settings = {
  listen_addresses: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  max_connections: '60',
  jit: 'off',
  autovacuum_naptime: '20s',
  log_min_messages: 'fatal',
}

type Place = {
  /** Working directory of PostgreSQL's processes: the cluster's folder. */
  readonly cluster: string
  /** The cluster's folder as PostgreSQL is told of it. */
  readonly inside: string
  /** Our folder of library links, likewise. */
  readonly links: string
  readonly uid: number | undefined
}

/**
 * As root the programs run as another user, who may not be able to pass through the folders above
 * ours. spawn() enters the working directory before it changes the user, and /proc/self/cwd leads
 * there without walking the path, so the cluster can stay in the data folder all the same.
 */
const placeOf = (dataFolder: string): Place => {
  const root = join(resolve(dataFolder), 'postgres')
  const cluster = join(root, 'cluster')
  const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
  mkdirSync(root, { recursive: true, mode: 0o700 })
  mkdirSync(cluster, { recursive: true, mode: 0o700 })
  chmodSync(root, 0o700)
  if (isRoot) for (const folder of [root, cluster]) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED)
  return {
    cluster,
    inside: isRoot ? '/proc/self/cwd' : cluster,
    links: isRoot ? '/proc/self/cwd/../lib' : join(root, 'lib'),
    uid: isRoot ? UNPRIVILEGED : undefined,
  }
}

const run = (
  program: 'initdb' | 'postgres',
  args: readonly string[],
  binaries: PostgresBinaries,
  place: Place,
): ChildProcess =>
  spawn(binaries[program], args, {
    cwd: place.cluster,
    env: { LD_LIBRARY_PATH: `${place.links}:${binaries.libraries}`, TZ: 'UTC', LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C in the terminal ends Purser, and Purser ends its database.
    detached: true,
    ...(place.uid === undefined ? {} : { uid: place.uid, gid: place.uid }),
  })

const collect = (child: ChildProcess): (() => string) => {
  let text = ''
  child.stderr?.on('data', (chunk) => {
    text = `${text}${chunk}`.slice(-2_000)
  })
  return () => text.trim()
}

const createCluster = async (binaries: PostgresBinaries, place: Place): Promise<void> => {
  const child = run(
    'initdb',
    ['-D', place.inside, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    binaries,
    place,
  )
  const output = collect(child)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`The database could not be created: ${output()}`)
}

const canConnect = async (connection: Connection): Promise<boolean> => {
  if (!('socketFolder' in connection)) return false
  const client = new pg.Client({
    host: connection.socketFolder,
    user: connection.user,
    database: connection.database,
    connectionTimeoutMillis: 2_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

const runningPid = (cluster: string): number | undefined => {
  const file = join(cluster, 'postmaster.pid')
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The socket's folder under a name short enough to connect to. */
const shortName = (folder: string): { folder: string; remove(): void } => {
  if (Buffer.byteLength(folder + SOCKET_FILE) <= 107) return { folder, remove: () => {} }
  const short = mkdtempSync(join(tmpdir(), 'purser-'))
  const link = join(short, 's')
  symlinkSync(folder, link)
  return { folder: link, remove: () => rmSync(short, { recursive: true, force: true }) }
}

const untilGone = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await delay(10)
}

/**
 * The database in the data folder: a real PostgreSQL from npm, reachable through a Unix socket that
 * only its owner can open, with fsync on. One that outlived an earlier Purser is taken over.
 * @throws Error with PostgreSQL's last words when it does not start
 */
export const startEmbeddedPostgres = async (
  dataFolder: string,
  logger: Logger,
): Promise<EmbeddedPostgres> => {
  const place = placeOf(dataFolder)
  const socket = shortName(place.cluster)
  const connection = { socketFolder: socket.folder, user: USER, database: 'postgres' }

  const stop = async (pid: number, gone: Promise<unknown>) => {
    if (isAlive(pid)) process.kill(pid, 'SIGINT')
    await gone
    socket.remove()
  }

  const survivor = runningPid(place.cluster)
  if (survivor !== undefined && isAlive(survivor) && (await canConnect(connection))) {
    logger.debug('the embedded database was still running and is taken over')
    return { connection, stop: () => stop(survivor, untilGone(survivor)) }
  }

  const binaries = postgresBinaries(join(place.cluster, '..', 'lib'))
  if (!existsSync(join(place.cluster, 'PG_VERSION'))) await createCluster(binaries, place)
  const options = Object.entries({ ...settings, unix_socket_directories: place.inside })
  const child = run(
    'postgres',
    ['-D', place.inside, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    binaries,
    place,
  )
  const output = collect(child)
  const gone = once(child, 'exit')
  child.once('error', (error) => logger.error({ reason: error.message }, 'database not started'))
  while (!(await canConnect(connection))) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      socket.remove()
      throw new Error(`The database did not start: ${output() || 'it ended at once'}`)
    }
    await delay(10)
  }
  const pid = child.pid as number
  return { connection, stop: () => stop(pid, gone) }
}
