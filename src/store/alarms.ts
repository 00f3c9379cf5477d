import { sql } from 'kysely'
import type { Database } from './database.js'

/** What runs low: a tank, or the credit of a fund. */
export type Holder = { readonly kind: 'tank' | 'credit'; readonly id: string }

/**
 * Turns the alarm of a holder on or off. True when that is a change; of several processes that notice
 * the same, one hears true.
 */
export const setAlarm = async (
  trx: Database,
  { kind, id }: Holder,
  isLow: boolean,
  available: bigint,
): Promise<boolean> => {
  if (kind === 'tank') {
    const { numUpdatedRows } = await trx
      .updateTable('tanks')
      .set({ low_since: isLow ? sql<Date>`now()` : null })
      .where('id', '=', id)
      .where('low_since', isLow ? 'is' : 'is not', null)
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }
  if (isLow) {
    const added = await trx
      .insertInto('alarms')
      .values({ holder: id, available, days: null })
      .onConflict((conflict) => conflict.column('holder').doNothing())
      .returning('holder')
      .executeTakeFirst()
    return added !== undefined
  }
  const { numDeletedRows } = await trx
    .deleteFrom('alarms')
    .where('holder', '=', id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export const isAlarmed = async (db: Database, fundId: string): Promise<boolean> => {
  const row = await db
    .selectFrom('alarms')
    .select('holder')
    .where('holder', '=', fundId)
    .executeTakeFirst()
  return row !== undefined
}
