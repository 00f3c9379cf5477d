import { closeSync, existsSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { ConfigError } from '../../base/errors/configError.js'
import { guard, type Watchdog } from '../../base/watchdog.js'
import { type Connection, clientConfig } from '../database.js'
import { type ClusterServer, endServer, serverPid, spawnServer } from './clusterServer.js'
import { CLUSTER_USER, type Cluster, prepareCluster } from './postgresCluster.js'

export type EmbeddedPostgres = {
  readonly connection: Connection
  /** Leaves the cluster, and ends its server when no other Purser uses it. Takes 3 s at most. */
  readonly stop: () => Promise<void>
}

/**
 * Each process that uses the cluster holds this advisory lock shared, in a session that lasts as
 * long as the process. Who gets it alone is the last one and may end the server.
 */
const PRESENCE = 0x707265736e63n
/** Recovery after a crash has to fit. */
const START_DEADLINE = 120_000
/** Milliseconds between attempts to start a server that does not start. */
const RESTART_AFTER = 1_000

/** Linux allows 107 bytes, others 103. */
const LONGEST_SOCKET_PATH = 103

/** The folder to find the socket in, under a name that is short enough for a socket's address. */
function socketFolder(folder: string): { path: string; release: () => void } {
  const length = Buffer.byteLength(join(folder, '.s.PGSQL.5432'))
  if (length <= LONGEST_SOCKET_PATH) return { path: folder, release: () => {} }
  if (process.platform !== 'linux')
    throw new ConfigError(
      `The data folder's path is too long by ${length - LONGEST_SOCKET_PATH} bytes for a Unix socket; choose a shorter one.`,
    )
  const descriptor = openSync(folder, 'r')
  return { path: `/proc/self/fd/${descriptor}`, release: () => closeSync(descriptor) }
}

type ServerSession = { readonly client: pg.Client; readonly socket: Socket; isOpen: boolean }
/** `absent`: nobody listens. `busy`: a server is there, but starts, recovers or ends. */
type AttachResult = ServerSession | 'absent' | 'busy'

/** Joins those who use the server, when there is one. */
async function attach(connection: Connection): Promise<AttachResult> {
  const socket = new Socket()
  const client = new pg.Client({
    ...clientConfig(connection),
    connectionTimeoutMillis: 5_000,
    stream: () => socket,
  })
  const session = { client, socket, isOpen: true }
  client.on('end', () => {
    session.isOpen = false
  })
  // Without a listener a lost session would end the process; who uses it sees that it is closed.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('select pg_try_advisory_lock_shared($1) as joined', [
      PRESENCE,
    ])
    if (rows[0]?.joined === true) {
      // It must not keep a process alive that has nothing else to do.
      socket.unref()
      return session
    }
    await client.end()
    return 'busy'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ECONNREFUSED' ? 'absent' : 'busy'
  }
}

/** Is no other process using the server? Others hold PRESENCE; our own hold of it must not count. */
async function isLast({ client, socket }: ServerSession): Promise<boolean> {
  socket.ref()
  await client.query('select pg_advisory_unlock_shared($1)', [PRESENCE])
  const { rows } = await client.query('select pg_try_advisory_lock($1) as alone', [PRESENCE])
  return rows[0]?.alone === true
}

/** May a server that ended start later? It was ended on purpose, another start was quicker, or processes of a killed server are about to end. */
function mayStartLater({ wasEnded, lastWords }: ClusterServer): boolean {
  return (
    wasEnded() ||
    /lock file "[^"]*" already exists|shared memory block .* is still in use/.test(lastWords())
  )
}

/** Finds the cluster's server, or starts it, and joins those who use it; undefined when aborted. */
async function joinServer(
  cluster: Cluster,
  connection: Connection,
  signal: AbortSignal,
  watch: (pid: number) => Promise<void>,
): Promise<ServerSession | undefined> {
  const deadline = Date.now() + START_DEADLINE
  let server: ClusterServer | undefined
  for (;;) {
    // Before we connect: a server that a killed Purser's watchdog is stopping accepts no connections.
    const running = serverPid(cluster.folder)
    if (running !== undefined) await watch(running)
    const attempt = await attach(connection)
    if (typeof attempt !== 'string') return attempt
    if (signal.aborted || Date.now() > deadline) {
      server?.abort()
      if (signal.aborted) return undefined
      throw new ConfigError(`The database does not answer; see ${cluster.log}.`)
    }
    if (attempt === 'absent' && !server?.isRunning() && serverPid(cluster.folder) === undefined) {
      if (server && !mayStartLater(server))
        throw new ConfigError(
          `The database did not start: ${server.lastWords()} See ${cluster.log}.`,
        )
      server = await spawnServer(cluster)
      if (server.pid !== undefined) await watch(server.pid)
    }
    await delay(server?.isRunning() === false ? 100 : 10)
  }
}

async function leave(
  session: ServerSession | undefined,
  cluster: Cluster,
  connection: Connection,
): Promise<void> {
  // Of all servers only this one: when it ends under us, the next may be another process's already.
  const pid = serverPid(cluster.folder)
  const last = session?.isOpen ? session : await attach(connection)
  if (last === 'absent' || pid === undefined) return
  // A session that breaks over the question had a server that is ending.
  if (last !== 'busy' && !(await isLast(last).catch(() => true))) return last.client.end()
  await endServer(cluster.folder, pid)
}

/** The server ends after us, also when we are killed, unless sessions of others are open on it. */
const ward = { program: 'postgres', usedBy: '[local]', signal: 'INT' } as const

/**
 * The way to the embedded database of a data folder while somebody runs it; else whether there is one.
 * Starts and makes nothing. `release` ends the use of the connection.
 */
export function findEmbeddedPostgres(
  dataFolder: string,
): { readonly connection: Connection; readonly release: () => void } | 'absent' | 'stopped' {
  const folder = join(resolve(dataFolder), 'postgres', 'cluster')
  if (!existsSync(folder)) return 'absent'
  if (serverPid(folder) === undefined) return 'stopped'
  const { path, release } = socketFolder(folder)
  return { connection: { socketFolder: path, user: CLUSTER_USER, database: 'postgres' }, release }
}

/**
 * The database in the data folder: a real PostgreSQL whose programs come from npm, reachable only
 * through a Unix socket in a folder that other users cannot enter. It is created and started when
 * needed. A server that runs already is used: that of another Purser, which then goes on when we
 * stop, or one that outlived a killed Purser (for the grace of its watchdog), which ends with us. One that ends while we use it is
 * started again, and recovers what was committed.
 * @throws ConfigError with PostgreSQL's own reason when it does not start
 */
export async function startEmbeddedPostgres(
  dataFolder: string,
  logger: Logger,
): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(dataFolder)
  const socket = socketFolder(cluster.folder)
  const connection = { socketFolder: socket.path, user: CLUSTER_USER, database: 'postgres' }
  try {
    const stopped = new AbortController()
    const { signal } = stopped
    let session: ServerSession | undefined
    let rejoined: Promise<void> | undefined
    let watchdog: (Watchdog & { readonly ward: number }) | undefined
    /** The server's watchdog, from its first moment on: we may be killed at any time. */
    const watch = async (pid: number): Promise<void> => {
      if (pid === watchdog?.ward) return
      await watchdog?.dismiss()
      watchdog = { ...guard({ pid, ...ward }), ward: pid }
    }
    const join = async (): Promise<void> => {
      session = await joinServer(cluster, connection, signal, watch)
      session?.client.once('end', () => {
        if (!signal.aborted) rejoined = rejoin()
      })
    }
    const rejoin = async (): Promise<void> => {
      logger.error({ log: cluster.log }, 'the embedded database ended and is restarted')
      while (!session?.isOpen && !signal.aborted) {
        try {
          await join()
        } catch (error) {
          logger.error({ err: error }, 'the embedded database did not restart')
          await delay(RESTART_AFTER, undefined, { signal }).catch(() => {})
        }
      }
    }
    const stop = async (): Promise<void> => {
      stopped.abort()
      await rejoined
      await leave(session, cluster, connection)
      await watchdog?.dismiss()
    }
    await join()
    let stopping: Promise<void> | undefined
    return {
      connection,
      stop: () => {
        stopping ??= stop().finally(socket.release)
        return stopping
      },
    }
  } catch (error) {
    socket.release()
    throw error
  }
}
