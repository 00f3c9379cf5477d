import { sql } from 'kysely'
import type { TransactionExecutor } from '../database.js'

/** How long an admission waits for its turn, and may stand still once it has it. */
const patience = { turn: '2s', idle: '3s' }

/**
 * Until the transaction ends no other process admits to this chain's pool: what is read after this
 * changes only by what bundling takes out. A process that stands still inside is cut off by the
 * database, so the others do not wait for it for long.
 */
export async function lockPool(trx: TransactionExecutor, chainId: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${patience.turn}, true),
    set_config('idle_in_transaction_session_timeout', ${patience.idle}, true),
    pg_advisory_xact_lock(hashtextextended(${`pool ${chainId}`}, 0))`.execute(trx)
}
