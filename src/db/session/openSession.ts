import pg from 'pg'
import type { NameOf } from './statementNames.js'

/** Sends a statement with its values; resolves to what the server answers. */
export type Query = (text: string, values: readonly unknown[]) => Promise<pg.QueryResult>

/** One connection of a pool as we use it. */
type DatabaseSession = { readonly query: Query; readonly release: () => void }

/**
 * How statements reach the server. Those with values are prepared under a name, so that the server
 * parses and plans each once per connection. `begin` is not waited for: it travels in one packet with
 * the statement that follows, which fails where `begin` did. Where `pipelinedToCommit` has sent `commit` with the last
 * statement, nothing is left to send when the transaction ends for its owner.
 */
export function openSession(client: pg.PoolClient, nameOf: NameOf): DatabaseSession {
  // A pool's clients are of the class Client, which the types do not say.
  const { stream } = (client as pg.PoolClient & pg.Client).connection
  let begun: Promise<unknown> | undefined
  let isSpent = false
  let isCommitted = false

  /** Sends all statements of one turn of the event loop to the server in one packet. */
  const gather = (): void => {
    stream.cork()
    process.nextTick(() => stream.uncork())
  }

  const send: Query = async (text, values) => {
    const name = values.length === 0 ? undefined : nameOf(text)
    gather()
    try {
      return await client.query({ ...(name && { name }), text, values: [...values] })
    } catch (error) {
      isSpent ||= isStalePlan(error) || isFatal(error)
      throw error
    }
  }

  const query: Query = async (text, values) => {
    const isOver = isCommitted && (text === 'commit' || text === 'rollback')
    isCommitted = text === 'commit'
    if (isOver) return isEnded
    if (text === 'begin') {
      stream.cork()
      begun = client.query(text)
      begun.catch(() => {})
      return isBegun
    }
    if (begun === undefined) return send(text, values)
    const both = Promise.all([send(text, values), begun])
    begun = undefined
    stream.uncork()
    const [result] = await both
    return result
  }

  return { query, release: () => client.release(isSpent) }
}

/** Has the schema changed under a prepared statement? It can be prepared on a new connection only. */
export function isStalePlan(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === '0A000' &&
    error.message === 'cached plan must not change result type'
  )
}

const isBegun: pg.QueryResult = { command: 'BEGIN', rowCount: 0, oid: 0, rows: [], fields: [] }
const isEnded: pg.QueryResult = { ...isBegun, command: 'COMMIT' }

/** Does the server end the session with this error? The connection may still look open then. */
function isFatal(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && (error.severity === 'FATAL' || error.severity === 'PANIC')
  )
}
