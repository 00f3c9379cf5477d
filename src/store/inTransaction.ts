import type { Database } from './database.js'

/** Runs within the transaction that `db` already is, else within one of its own. */
export const inTransaction = <Result>(
  db: Database,
  run: (trx: Database) => Promise<Result>,
): Promise<Result> => (db.isTransaction ? run(db) : db.transaction().execute(run))
