import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../db/database.js'
import { zeroAddress } from '../erc4337/encoding/constants.js'

/** An operation that was included or left the pool, with the times of its way, by the database's clock. */
export type EndedOperation = {
  readonly hash: Hex
  readonly appId: string
  readonly sender: Address
  /** `failed`: included, and its call reverted. */
  readonly outcome: 'included' | 'failed' | 'dropped' | 'replaced'
  /** The code with which it left the pool. */
  readonly code: string | null
  readonly receivedAt: Date
  /** The time at which a bundle with it was signed, and the bundle's id; null where none holds it. */
  readonly bundledAt: Date | null
  readonly bundleId: bigint | null
  /** The time at which the newest transaction of that bundle was signed, to be sent at once. */
  readonly sentAt: Date | null
  readonly endedAt: Date
  readonly transactionHash: Hex | null
  readonly blockNumber: bigint | null
  /** The decision that sponsored it, and wei that it cost its sponsor; null where nobody sponsored it. */
  readonly decisionId: string | null
  readonly cost: bigint | null
  readonly mode: 'tank' | 'shared' | 'native' | 'token' | null
}

/** Those of these operations that have ended, in no order. */
export async function readEnded(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
): Promise<readonly EndedOperation[]> {
  const { rows } = await sql<EndedOperation>`
    select o.hash, o.app_id as "appId", o.sender, o.reason_code as code,
      case when o.state = 'included' and not i.success then 'failed' else o.state end as outcome,
      o.received_at as "receivedAt", o.updated_at as "endedAt", o.bundle_id as "bundleId",
      b.created_at as "bundledAt", t.created_at as "sentAt",
      i.transaction_hash as "transactionHash", i.block_number as "blockNumber",
      s.id as "decisionId", s.actual_cost as cost, s.mode
    from operations o
    left join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
    left join bundles b on b.id = o.bundle_id
    left join lateral (
      select max(created_at) as created_at from bundle_transactions where bundle_id = o.bundle_id
    ) t on true
    left join lateral (
      select d.id, r.actual_cost, case when r.paymaster = ${zeroAddress} then 'native'
        when k.kind = 'token' then 'token' when k.app_id is null then 'shared' else 'tank' end as mode
      from decisions d join reservations r on r.id = d.reservation_id
      left join tanks k on k.chain_id = r.chain_id and k.entry_point = r.entry_point
        and k.address = r.paymaster
      where d.chain_id = o.chain_id and d.user_op_hash = o.hash and d.sponsored
      order by r.actual_cost desc limit 1
    ) s on true
    where o.chain_id = ${chainId} and o.hash = any(${[...hashes]}::text[])
      and o.state in ('included', 'dropped', 'replaced')`.execute(db)
  return rows
}
