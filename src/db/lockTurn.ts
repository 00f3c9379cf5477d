import { sql } from 'kysely'
import type { TransactionExecutor } from './database.js'

/** The time for which a transaction waits for its turn, longer than the time that it may then be idle. */
const patience = { turn: '5s', idle: '3s' }

/**
 * Takes the turn of this name until the transaction ends: no other transaction, in any process, has it meanwhile. The database
 * disconnects a process that is idle inside, so that the others do not wait for long.
 */
export async function lockTurn(trx: TransactionExecutor, name: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${patience.turn}, true),
    set_config('idle_in_transaction_session_timeout', ${patience.idle}, true),
    pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx)
}
