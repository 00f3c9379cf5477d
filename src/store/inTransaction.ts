import type { Database } from './database.js'

/** Runs within the transaction that `db` already is, else within one of its own. */
export function inTransaction<Result>(
  db: Database,
  run: (trx: Database) => Promise<Result>,
): Promise<Result> {
  return db.isTransaction ? run(db) : db.transaction().execute(run)
}
