import { type Selectable, sql } from 'kysely'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'

type CircuitChange = Selectable<Schema['webhook_circuits']>

/** The changes of one webhook that are kept: a receiver that stays away opens its circuit again and again. */
const KEPT = 100

/** Stores that the circuit of a webhook opened or closed, and forgets its changes beyond the newest. */
export async function recordCircuit(
  db: Database,
  webhookId: string,
  state: CircuitChange['state'],
): Promise<void> {
  await sql`with beyond as (
      select id from webhook_circuits where webhook_id = ${webhookId}
      order by id desc offset ${KEPT - 1} limit 1
    ), gone as (
      delete from webhook_circuits c using beyond
      where c.webhook_id = ${webhookId} and c.id <= beyond.id
    )
    insert into webhook_circuits (webhook_id, state)
    select id, ${state} from webhooks where id = ${webhookId}`.execute(db)
}

/** The changes of a webhook's circuit, the newest first. */
export function listCircuitChanges(db: Database, webhookId: string): Promise<CircuitChange[]> {
  return db
    .selectFrom('webhook_circuits')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .orderBy('id', 'desc')
    .limit(KEPT)
    .execute()
}
