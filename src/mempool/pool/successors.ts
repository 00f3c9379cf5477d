import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, TransactionExecutor } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { emitOperationEvents } from '../../db/events.js'
import { inTransaction } from '../../db/inTransaction.js'
import type { Schema } from '../../db/schema.generated.js'

/** A nonce is `key << 64 | sequence`. */
export const nonceKeyUnit = sql.raw(`${2n ** 64n}::numeric`)

const PREDECESSOR_DROPPED: DropCode = 'PREDECESSOR_DROPPED'

/**
 * Drops the pooled operations that wait behind operations that were just dropped: same account, same
 * nonce key, higher sequence, and no other operation with the lower nonce. They could not be included
 * before somebody sends that nonce again.
 */
export async function dropSuccessors(
  trx: TransactionExecutor,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Hex[]> {
  if (hashes.length === 0) return []
  const { rows } = await sql<{ hash: Hex }>`
    update operations o set state = 'dropped', reason_code = ${PREDECESSOR_DROPPED},
      reason = 'operation ' || p.hash || ' with nonce ' || p.nonce
        || ' of the same account had to go first and was dropped ('
        || coalesce(p.reason, p.reason_code) || '): send that nonce again, then this operation',
      updated_at = now()
    from operations p join live_operations l on l.chain_id = p.chain_id
      and l.entry_point = p.entry_point and l.sender = p.sender and l.nonce > p.nonce
      and div(l.nonce, ${nonceKeyUnit}) = div(p.nonce, ${nonceKeyUnit})
    where p.chain_id = ${chainId} and p.hash = any(${hashes}::text[]) and p.state = 'dropped'
      and not exists (select 1 from live_operations again where again.chain_id = p.chain_id
        and again.entry_point = p.entry_point and again.sender = p.sender
        and again.nonce = p.nonce)
      and o.chain_id = l.chain_id and o.hash = l.hash and o.state = 'pooled'
    returning o.hash`.execute(trx)
  return rows.map(({ hash }) => hash)
}

/** A live operation of an account. */
export type Pending = {
  readonly hash: Hex
  readonly nonce: bigint
  /** wei; what its payer may lose to it */
  readonly prefund: bigint
  readonly paymaster: Address | null
}

/** Live operations of an account on one EntryPoint, by nonce. */
export async function pendingOfSender(
  db: Database,
  chainId: number,
  entryPoint: Address,
  sender: Address,
): Promise<readonly Pending[]> {
  return db
    .selectFrom('live_operations')
    .select(['hash', 'nonce', 'prefund', 'paymaster'])
    .where('chain_id', '=', BigInt(chainId))
    .where('entry_point', '=', entryPoint)
    .where('sender', '=', sender)
    .orderBy('nonce')
    .execute()
}

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
): Promise<Schema['operations']['state'] | undefined> {
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
