import type { TransactionExecutor } from './database.js'

/**
 * Sends the statements that `ask` begins at once without waiting for the answer to the one before: one
 * round trip for all of them. The server runs them in that order, each on what those before it left;
 * when one fails, those behind it do too. Only inside a transaction, which fails as a whole.
 */
export function pipelined<Result>(
  trx: TransactionExecutor,
  ask: (statements: TransactionExecutor) => Promise<Result>,
): Promise<Result> {
  const executor = trx.getExecutor()
  return executor.provideConnection((connection) => {
    const direct = executor.withConnectionProvider({
      provideConnection: (use) => use(connection),
    })
    return ask({ isTransaction: true, getExecutor: () => direct })
  })
}
