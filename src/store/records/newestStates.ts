import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { Database } from '../database.js'
import type { OperationState } from '../schema.js'

export type OperationStanding = {
  readonly chainId: bigint
  readonly hash: Hex
  readonly state: OperationState
  /** Milliseconds since 1970. */
  readonly updatedAt: number
}

/** The states of the newest operations of an app, the newest first: one short walk of an index. */
export async function newestStates(
  db: Database,
  appId: string,
  limit: number,
): Promise<readonly OperationStanding[]> {
  const { rows } = await sql<OperationStanding>`select chain_id as "chainId", hash, state,
      (extract(epoch from updated_at) * 1000)::float8 as "updatedAt"
    from operations where app_id = ${appId}
    order by received_at desc, hash desc limit ${limit}`.execute(db)
  return rows
}
