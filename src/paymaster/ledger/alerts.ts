import { sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.js'

/**
 * Turns the alert of a tank or of a fund's credit on or off. True when that is a change; of several
 * processes that notice the same, one hears true.
 */
export async function setAlert(trx: Transaction, holder: string, isLow: boolean): Promise<boolean> {
  if (isLow) {
    const added = await trx
      .insertInto('alerts')
      .values({ holder })
      .onConflict((conflict) => conflict.column('holder').doNothing())
      .returning('holder')
      .executeTakeFirst()
    return added !== undefined
  }
  const { numDeletedRows } = await trx
    .deleteFrom('alerts')
    .where('holder', '=', holder)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Turns off the alerts of a chain's tanks and funds other than these, which nobody looks at any more. */
export async function endOtherAlerts(
  db: Database,
  chainId: number,
  watched: readonly string[],
): Promise<void> {
  await sql`delete from alerts where holder <> all(${watched}::uuid[]) and holder in (
    select id from tanks where chain_id = ${chainId}
    union all select id from funds where chain_id = ${chainId})`.execute(db)
}

/** The time since which the alert of a tank or fund is on; undefined = it is off. */
export async function alertSince(db: Database, holder: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('alerts')
    .select('since')
    .where('holder', '=', holder)
    .executeTakeFirst()
  return row?.since
}
