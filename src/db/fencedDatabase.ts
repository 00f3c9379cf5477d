import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { LeaseLostError } from '../base/errors/processErrors.js'
import type { Database } from './database.js'
import { holdsLease, type Lease } from './leases.js'
import type { Schema } from './schema.generated.js'

/**
 * The database for the holder of a lease: every transaction begins with a check that the lease is
 * still held, and a write outside of a transaction gets one. So a process that was paused while
 * another one took over can write nothing, wherever it stopped.
 *
 * Transactions and writes of a lost lease throw LeaseLostError and call `onLost`; reads always work.
 */
export function fencedDatabase(database: Database, lease: Lease, onLost: () => void): Database {
  return new Kysely<Schema>({ dialect: fencedDialect(database, lease, onLost) })
}

function fencedDialect(database: Database, lease: Lease, onLost: () => void): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => fencedDriver(database, lease, onLost),
  }
}

type FencedSession = DatabaseConnection & {
  begin(): Promise<void>
  end(statement: 'commit' | 'rollback'): Promise<void>
  /** Gives the connection back. */
  readonly release: () => void
}

function fencedDriver(database: Database, lease: Lease, onLost: () => void): Driver {
  return {
    init: async () => {},
    acquireConnection: () =>
      new Promise<DatabaseConnection>((resolve, reject) => {
        // The connection is ours for as long as the callback runs.
        database
          .connection()
          .execute(
            (connection) =>
              new Promise<void>((release) =>
                resolve(openSession(connection, lease, onLost, release)),
              ),
          )
          .catch(reject)
      }),
    beginTransaction: (session) => (session as FencedSession).begin(),
    commitTransaction: (session) => (session as FencedSession).end('commit'),
    rollbackTransaction: (session) => (session as FencedSession).end('rollback'),
    releaseConnection: async (session) => (session as FencedSession).release(),
    destroy: async () => {},
  }
}

function openSession(
  connection: Database,
  lease: Lease,
  onLost: () => void,
  release: () => void,
): FencedSession {
  let inTransaction = false
  const plain = (query: CompiledQuery) => connection.executeQuery(query)
  const end = async (statement: 'commit' | 'rollback') => {
    await plain(CompiledQuery.raw(statement))
    inTransaction = false
  }
  const begin = async () => {
    await plain(CompiledQuery.raw('begin'))
    try {
      if (!(await holdsLease(connection, lease))) {
        onLost()
        throw new LeaseLostError(lease.name)
      }
      inTransaction = true
    } catch (error) {
      // Where it fails the session is broken, and its transaction with it.
      await end('rollback').catch(() => {})
      throw error
    }
  }
  const executeQuery = async <Row>(query: CompiledQuery): Promise<QueryResult<Row>> => {
    if (inTransaction || isRead(query)) return (await plain(query)) as QueryResult<Row>
    await begin()
    try {
      const result = await plain(query)
      await end('commit')
      return result as QueryResult<Row>
    } catch (error) {
      await end('rollback').catch(() => {})
      throw error
    }
  }
  return {
    begin,
    end,
    release,
    executeQuery,
    streamQuery: () => {
      throw new Error('A holder of a lease does not stream.')
    },
  }
}

/**
 * Is the query surely a read? SQL that begins with `select` writes no table of ours: only a function that it calls could,
 * and we have none. SQL that begins otherwise counts as a write, and so does a query with a `with`.
 */
function isRead({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode') return query.with === undefined
  return query.kind === 'RawNode' && /^\s*select\b/.test(sql)
}
