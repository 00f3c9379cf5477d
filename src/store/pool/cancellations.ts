import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { Database } from '../database.js'
import { emitOperationEvents } from '../events.js'
import { inTransaction } from '../inTransaction.js'
import type { OperationState } from '../schema.js'
import { dropSuccessors } from './successors.js'

/**
 * Drops a pooled operation. For a bundled one the operator's request is stored, which the bundler carries
 * out at the executor's cost; the owner of the operation changes nothing there. Returns the state before;
 * undefined when there is no such operation.
 */
export function requestCancellation(
  db: Database,
  chainId: number,
  hash: Hex,
  by: 'operator' | 'owner',
): Promise<OperationState | undefined> {
  return inTransaction(db, async (trx) => {
    const operation = await trx
      .selectFrom('operations')
      .select('state')
      .where('chain_id', '=', BigInt(chainId))
      .where('hash', '=', hash)
      .forUpdate()
      .executeTakeFirst()
    const cancelled = {
      state: 'dropped',
      reason_code: 'CANCELLED',
      reason: `cancelled by the ${by}`,
    } as const
    if (operation?.state === 'pooled' || (operation?.state === 'bundled' && by === 'operator'))
      await trx
        .updateTable('operations')
        .set({ cancel_requested_at: sql<Date>`now()`, updated_at: sql<Date>`now()` })
        .$if(operation.state === 'pooled', (update) => update.set(cancelled))
        .where('chain_id', '=', BigInt(chainId))
        .where('hash', '=', hash)
        .execute()
    if (operation?.state === 'pooled') {
      const successors = await dropSuccessors(trx, chainId, [hash])
      await emitOperationEvents(trx, chainId, [hash, ...successors])
    }
    return operation?.state
  })
}
