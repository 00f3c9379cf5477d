import { type CompiledQuery, type DatabaseConnection, sql } from 'kysely'
import type { TransactionExecutor } from './database.js'

/**
 * Sends the statements that `ask` begins at once without waiting for the answer to the one before: one
 * round trip for all of them. The server runs them in that order, each on what those before it left;
 * when one fails, those behind it do too, and the error of the first one is thrown. Only inside a transaction, which
 * fails as a whole.
 */
export function pipelined<Result>(
  trx: TransactionExecutor,
  ask: (statements: TransactionExecutor) => Promise<Result>,
): Promise<Result> {
  const executor = trx.getExecutor()
  return executor.provideConnection((connection) => {
    const answers: Promise<unknown>[] = []
    const noting: DatabaseConnection = {
      streamQuery: <R>(...query: Parameters<DatabaseConnection['streamQuery']>) =>
        connection.streamQuery<R>(...query),
      executeQuery: <R>(query: CompiledQuery) => {
        const answer = connection.executeQuery<R>(query)
        answers.push(answer)
        return answer
      },
    }
    const direct = executor.withConnectionProvider({
      provideConnection: (use) => use(noting),
    })
    return ask({ isTransaction: true, getExecutor: () => direct }).catch(async (error: unknown) => {
      // The error of one behind the first, which only says that another one failed, may be heard of sooner.
      for (const answer of answers) await answer
      throw error
    })
  })
}

/**
 * Sends the last statements of a transaction and its commit at once; `ask` begins them all before it waits for anything.
 * Resolves with its result when they are committed; when one fails, nothing of the transaction is written, and its error
 * is thrown.
 */
export async function pipelinedToCommit<Result>(
  trx: TransactionExecutor,
  ask: (statements: TransactionExecutor) => Promise<Result>,
): Promise<Result> {
  const [result] = await pipelined(trx, (statements) =>
    Promise.all([ask(statements), sql`commit`.execute(statements)]),
  )
  return result
}
