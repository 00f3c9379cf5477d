import { sql } from 'kysely'
import type { Database } from './database.js'

/** Operations that wait or are in open bundles, by chain and state. */
export async function poolSizes(
  db: Database,
): Promise<readonly { chain: string; state: 'pooled' | 'bundled'; operations: number }[]> {
  const rows = await db
    .selectFrom('operations')
    .select(({ fn }) => ['chain_id', 'state', fn.countAll<bigint>().as('count')])
    .where(sql<boolean>`state in ('pooled', 'bundled')`)
    .groupBy(['chain_id', 'state'])
    .execute()
  return rows.map(({ chain_id, state, count }) => ({
    chain: String(chain_id),
    state: state as 'pooled' | 'bundled',
    operations: Number(count),
  }))
}
