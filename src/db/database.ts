import {
  Kysely,
  type Transaction as KyselyTransaction,
  PostgresDialect,
  type QueryExecutorProvider,
} from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import type { Schema } from './schema.generated.js'
import { createTroubleMemory, rememberTrouble, type TroubleMemory } from './storageTrouble.js'
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
    application_name: 'purser',
    types,
  }
}

/**
 * How the server plans the statements of a pool.
 * - `hot`: the statements of each operation are planned once on each connection, for any values, because planning each
 *   call took longer than running it. The tables may be almost empty then, so only plans by an index are allowed, which
 *   stay good when the tables grow. A partial index serves such a statement only if its condition is in the text.
 * - `ordinary`: lists, exports and changes by an administrator vary with their filters, so each is planned for its
 *   values, with the planner's defaults.
 */
type Plans = 'hot' | 'ordinary'

const planSettings: Readonly<Record<Plans, string>> = {
  hot: `select set_config('plan_cache_mode', 'force_generic_plan', false), set_config(name, 'off', false)
    from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name`,
  ordinary: `select set_config('plan_cache_mode', 'force_custom_plan', false),
    set_config('jit', 'off', false)`,
}

/** Acknowledged writes must be on the disk, whatever the server's default is. */
const DURABLE = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') = 'off'`

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

type PoolOptions = {
  /** Connections, at most. */
  readonly size?: number
  readonly plans?: Plans
  /** Shared by the pools of one database. */
  readonly trouble?: TroubleMemory
}

/**
 * A pool of connections. One that breaks is logged and replaced, and makes the query or transaction
 * fail that it was used for.
 */
export function openDatabase(
  connection: Connection,
  logger: Logger,
  { size = 10, plans = 'hot', trouble = createTroubleMemory(logger) }: PoolOptions = {},
): Database {
  const pool = new pg.Pool({
    ...clientConfig(connection),
    // Statements that are sent without waiting travel together, see `openSession`.
    pipeline: true,
    max: size,
    connectionTimeoutMillis: 10_000,
    // A new connection has to plan every statement again.
    idleTimeoutMillis: 600_000,
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
    client.query(DURABLE).catch(logLoss)
    client.query(planSettings[plans]).catch(logLoss)
  })
  pool.on('error', () => {})
  const dialect = new PostgresDialect({ pool: tellUnavailable(pool, trouble) })
  const database = new Kysely<Schema>({ dialect })
  rememberTrouble(database, trouble)
  pools.set(database, pool)
  return database
}
