import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { Database } from '../database.js'
import { emitOperationEvents } from '../events.js'
import type { OperationState } from '../schema.js'
import { dropSuccessors } from './successors.js'

/**
 * Takes a pooled operation out of the pool; of a bundled one it only notes the wish, which the bundler
 * carries out. Returns the state that the operation was in; undefined when there is no such one.
 */
export function requestCancellation(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<OperationState | undefined> {
  return db.transaction().execute(async (trx) => {
    const found = await trx
      .selectFrom('operations')
      .select('state')
      .where('chain_id', '=', BigInt(chainId))
      .where('hash', '=', hash)
      .forUpdate()
      .executeTakeFirst()
    const pooled = {
      state: 'dropped',
      reason_code: 'CANCELLED',
      reason: 'cancelled by the operator',
    } as const
    if (found?.state === 'pooled' || found?.state === 'bundled')
      await trx
        .updateTable('operations')
        .set({ cancel_requested_at: sql<Date>`now()`, updated_at: sql<Date>`now()` })
        .$if(found.state === 'pooled', (update) => update.set(pooled))
        .where('chain_id', '=', BigInt(chainId))
        .where('hash', '=', hash)
        .execute()
    if (found?.state === 'pooled') {
      const successors = await dropSuccessors(trx, chainId, [hash])
      await emitOperationEvents(trx, chainId, [hash, ...successors])
    }
    return found?.state
  })
}
