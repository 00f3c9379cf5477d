import type { Database, Transaction } from './database.js'

/** Runs within the transaction that `db` already is, else within one of its own. */
export function inTransaction<Result>(
  db: Database,
  run: (trx: Transaction) => Promise<Result>,
): Promise<Result> {
  return isTransaction(db) ? run(db) : db.transaction().execute(run)
}

function isTransaction(db: Database): db is Transaction {
  return db.isTransaction
}
