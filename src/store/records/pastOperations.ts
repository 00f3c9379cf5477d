import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../database.js'
import type { OperationState } from '../schema.js'

/** An operation of an app as a policy would have seen it, with the decision about it. */
export type PastRecord = {
  readonly chainId: bigint
  readonly hash: Hex
  readonly sender: Address
  readonly receivedAt: Date
  readonly state: OperationState
  readonly callData: Hex
  readonly factory: Address | null
  readonly factoryData: Hex
  /** wei per gas that are offered for it */
  readonly maxFeePerGas: bigint
  /** wei: what was reserved for it, or where it was not sponsored what its limits allow. */
  readonly maxCost: bigint
  /** wei; null while it is not included. */
  readonly actualCost: bigint | null
  /** Null where nobody was asked to sponsor it. */
  readonly decisionId: string | null
  readonly sponsored: boolean | null
  readonly code: string | null
  readonly message: string | null
  readonly decidedAt: Date | null
}

/** Characters of call data that are read at most: a policy decodes all of it. */
const MOST_CALL_DATA = 8_000_000

/** The newest operations of an app, the oldest of them first; fewer where they carry much call data. */
export async function readPastOperations(
  db: Database,
  appId: string,
  limit: number,
): Promise<readonly PastRecord[]> {
  const { rows } = await sql<PastRecord>`
    select o.chain_id as "chainId", o.hash, o.sender, o.received_at as "receivedAt", o.state,
      o.operation->>'callData' as "callData", o.operation->>'factory' as factory,
      o.operation->>'factoryData' as "factoryData", o.max_fee_per_gas as "maxFeePerGas",
      coalesce(d.max_cost, o.prefund) as "maxCost",
      coalesce(d.actual_cost, i.actual_gas_cost) as "actualCost",
      d.id as "decisionId", d.sponsored, d.code, d.message, d.created_at as "decidedAt"
    from (
      select n.*, sum(length(operation->>'callData')) over (order by received_at desc, hash desc) as read
      from (
        select * from operations where app_id = ${appId}
        order by received_at desc, hash desc limit ${limit}
      ) n
    ) o
    left join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
    left join lateral (
      select d.id, d.sponsored, d.code, d.message, d.created_at,
        case when d.sponsored then d.max_cost end as max_cost,
        case when r.user_op_hash = o.hash then r.actual_cost end as actual_cost
      from decisions d left join reservations r on r.id = d.reservation_id
      where d.chain_id = o.chain_id and d.user_op_hash = o.hash and d.app_id = o.app_id
      order by d.created_at desc limit 1
    ) d on true
    where o.read <= ${MOST_CALL_DATA}
    order by o.received_at, o.hash`.execute(db)
  return rows
}

/** One operation of an app by the decision that sponsored it. */
export async function readPastOperation(
  db: Database,
  appId: string,
  chainId: bigint,
  hash: Hex,
): Promise<Pick<PastRecord, 'callData' | 'factory' | 'factoryData' | 'maxFeePerGas'> | undefined> {
  const { rows } = await sql<PastRecord>`select operation->>'callData' as "callData",
      operation->>'factory' as factory, operation->>'factoryData' as "factoryData",
      max_fee_per_gas as "maxFeePerGas"
    from operations where chain_id = ${chainId} and hash = ${hash} and app_id = ${appId}`.execute(
    db,
  )
  return rows[0]
}
