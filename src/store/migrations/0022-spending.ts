import { type Kysely, sql } from 'kysely'
import { faultPoint } from '../../base/faults.js'

/** What sponsorships cost lately is read for every tank and credit, to tell how long they last. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index reservations_recent on reservations (chain_id, app_id, created_at)
    where state in ('included', 'settled')`.execute(db)
  faultPoint('migration:applied')
}
