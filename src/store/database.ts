import {
  Kysely,
  type Transaction as KyselyTransaction,
  PostgresDialect,
  type QueryExecutorProvider,
} from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { newestMigration } from './migrate.js'
import type { Schema } from './schema.js'
import { createTroubleMemory, rememberTrouble } from './storageTrouble.js'
import { tellUnavailable } from './unavailable.js'

export type Database = Kysely<Schema>

/** A database in a transaction. A function that must run in one takes this, and no plain `Database`. */
export type Transaction = KyselyTransaction<Schema>

/** A transaction, or the way to its statements that `pipelined` gives. */
export type TransactionExecutor = QueryExecutorProvider & { readonly isTransaction: true }

/** The place where a PostgreSQL listens: a server's URL, or the folder of a Unix socket. */
export type Connection =
  | { readonly url: string }
  | { readonly socketFolder: string; readonly user: string; readonly database: string }

const INT8 = 20
const NUMERIC = 1700

/** uint256 amounts and block numbers come as bigint; everything else as the driver has it. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    format !== 'binary' && (oid === INT8 || oid === NUMERIC)
      ? (text: string) => BigInt(text)
      : pg.types.getTypeParser(oid, format as 'text'),
}

/** The name of our sessions: processes of another version have another one (`stoppedMigration`). */
const schemaName = `purser ${newestMigration}`

/** The settings with which `pg` connects, for pools and for single connections. */
export function clientConfig(connection: Connection): pg.ClientConfig {
  return {
    ...('url' in connection
      ? { connectionString: connection.url }
      : {
          // Without these `pg` would read PG* variables, which mean another server.
          host: connection.socketFolder,
          port: 5432,
          user: connection.user,
          password: '',
          database: connection.database,
          ssl: false,
        }),
    application_name: schemaName,
    types,
  }
}

/**
 * The settings of every session, whatever the server's defaults are. Acknowledged writes must be on
 * the disk. And since a statement is planned once, maybe while its tables are almost empty, only plans
 * by an index are allowed, which stay good when the tables grow.
 */
const SETTINGS = `select set_config('synchronous_commit', 'on', false)
    where current_setting('synchronous_commit') = 'off'
  union all select set_config(name, 'off', false)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name`

/** The pools of the databases that `openDatabase` opened. */
const pools = new WeakMap<object, pg.Pool>()

/** The connections of a database that are in use, and the requests that wait for one. */
export function connectionUse(database: object): {
  readonly used: number
  readonly waiting: number
} {
  const pool = pools.get(database)
  if (pool === undefined) return { used: 0, waiting: 0 }
  return { used: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }
}

/**
 * A pool of connections. One that breaks is logged and replaced, and makes the query or transaction
 * fail that it was used for.
 */
export function openDatabase(connection: Connection, logger: Logger, poolSize = 10): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection),
    // Statements that are sent without waiting travel together, see `openSession`.
    pipeline: true,
    max: poolSize,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 30_000,
    // A process that stands still inside a transaction must not keep what it locked.
    idle_in_transaction_session_timeout: 5_000,
  })
  // Listened to on each connection, because between two queries of a transaction the pool does not
  // listen, and an error that nobody listens to ends the process.
  const logLoss = (error: Error) => {
    // A pool says that it has ended before its sessions have.
    if (!pool.ending) logger.warn({ reason: error.message }, 'database connection lost')
  }
  pool.on('connect', (client) => {
    client.on('error', logLoss)
    // Before anything that the connection is wanted for, because queries wait in line.
    client.query(SETTINGS).catch(logLoss)
  })
  pool.on('error', () => {})
  const memory = createTroubleMemory(logger)
  const dialect = new PostgresDialect({ pool: tellUnavailable(pool, memory) })
  const database = new Kysely<Schema>({ dialect })
  rememberTrouble(database, memory)
  pools.set(database, pool)
  return database
}
