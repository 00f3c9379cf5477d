import { sql } from 'kysely'
import type { TransactionExecutor } from '../database.js'

/** The time that an admission waits for its turn, and the time that it may then be idle. */
const patience = { turn: '2s', idle: '3s' }

/**
 * Locks the pool of a chain for admissions until the transaction ends: only bundling changes what is
 * read after this. The database disconnects a process that is idle inside, so that the others do not
 * wait for long.
 */
export async function lockPool(trx: TransactionExecutor, chainId: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${patience.turn}, true),
    set_config('idle_in_transaction_session_timeout', ${patience.idle}, true),
    pg_advisory_xact_lock(hashtextextended(${`pool ${chainId}`}, 0))`.execute(trx)
}
