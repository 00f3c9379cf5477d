import { type Selectable, sql, type Updateable } from 'kysely'
import type { Database, Transaction } from '../database.js'
import { inTransaction } from '../inTransaction.js'
import type { Schema } from '../schema.js'

/** The tables of receivers: URLs of an app, with the secret that signs the requests to them. */
type ReceiverTable = 'webhooks' | 'event_subscriptions'

type StoredReceiver<Table extends ReceiverTable> = Selectable<Schema[Table]>

/**
 * Stores a receiver, unless the app has `limit` of them already: then undefined. The app's row is
 * locked, so that creations at the same time are counted one after the other.
 */
export function insertReceiver<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
  limit: number,
  insert: (trx: Transaction) => Promise<StoredReceiver<Table>>,
): Promise<StoredReceiver<Table> | undefined> {
  return inTransaction(db, async (trx) => {
    await trx
      .selectFrom('apps')
      .select('id')
      .where('id', '=', appId)
      .forUpdate()
      .executeTakeFirstOrThrow()
    const { rows } = await sql<{ count: bigint }>`select count(*) as count from ${sql.table(table)}
      where app_id = ${appId}`.execute(trx)
    return Number(rows[0]?.count) >= limit ? undefined : insert(trx)
  })
}

/**
 * Changes the given members of a receiver; undefined = the app has no such one. The same holds for the
 * functions below.
 */
export async function updateReceiver<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
  id: string,
  changes: Updateable<Schema[Table]>,
): Promise<StoredReceiver<Table> | undefined> {
  const assignments = Object.entries(changes)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql`${sql.ref(column)} = ${value}, `)
  const { rows } = await sql<StoredReceiver<Table>>`update ${sql.table(table)}
    set ${sql.join(assignments, sql``)}updated_at = now()
    where app_id = ${appId} and id = ${id} returning *`.execute(db)
  return rows[0]
}

/** Replaces the secret of a receiver. The old one goes on signing beside the new one until `overlapUntil`. */
export async function replaceReceiverSecret<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
  id: string,
  secret: Buffer,
  overlapUntil: Date,
): Promise<StoredReceiver<Table> | undefined> {
  const { rows } = await sql<StoredReceiver<Table>>`update ${sql.table(table)}
    set previous_secret = secret, previous_secret_until = ${overlapUntil}, secret = ${secret},
      updated_at = now()
    where app_id = ${appId} and id = ${id} returning *`.execute(db)
  return rows[0]
}

export async function deleteReceiver<Table extends ReceiverTable>(
  db: Database,
  table: Table,
  appId: string,
  id: string,
): Promise<StoredReceiver<Table> | undefined> {
  const { rows } = await sql<StoredReceiver<Table>>`delete from ${sql.table(table)}
    where app_id = ${appId} and id = ${id} returning *`.execute(db)
  return rows[0]
}

/** The distinct URLs of all active webhooks and subscriptions, at most `limit`, of live apps. */
export async function activeReceiverUrls(db: Database, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ url: string }>`
    select distinct url from (
      select url, app_id from webhooks where active
      union all
      select url, app_id from event_subscriptions where active
    ) as receivers
    join apps on apps.id = app_id and apps.revoked_at is null
    order by url limit ${limit}`.execute(db)
  return rows.map(({ url }) => url)
}
