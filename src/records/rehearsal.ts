import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../db/database.js'
import { storedOperation } from '../db/storedOperation.js'
import type { Operation } from '../erc4337/operation.js'

/** Operations that are paid for alike: of one app, by one policy, from one payer. */
export type SpendGroup = {
  readonly appId: string
  readonly appName: string
  /** null = no policy decided; where nobody sponsored it, its sender paid. */
  readonly policyId: string | null
  readonly policyName: string | null
  readonly accountId: string
  readonly entryPoint: Address
  /** The zero address = the sender, or the operator. */
  readonly paymaster: Address
}

/** An included operation that was recorded, with who paid for it. */
export type PastSpend = SpendGroup & {
  readonly hash: Hex
  readonly sender: Address
  readonly operation: Operation
  readonly sharedBy: number
  readonly blockHash: Hex
  readonly success: boolean
  readonly gas: bigint
  /** wei that its payer paid, and had to have for it at most */
  readonly cost: bigint
  readonly maxCost: bigint
}

/** All operations of a group in the span. */
export type GroupTotal = SpendGroup & { readonly operations: bigint; readonly cost: bigint }

type Span = { readonly chainId: number; readonly from: Date; readonly until: Date }

/** Where an operation stands: its app, the policy that sponsored it, and what that cost. */
const booked = sql`join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
  left join lateral (
    select d.policy_id, case when r.user_op_hash = o.hash then r.actual_cost end as cost
    from decisions d left join reservations r on r.id = d.reservation_id
    where d.chain_id = o.chain_id and d.user_op_hash = o.hash and d.app_id = o.app_id and d.sponsored
    order by d.created_at desc limit 1
  ) d on true
  left join policies p on p.id = d.policy_id`
const group = sql`a.id as "appId", a.name as "appName", a.account_id as "accountId",
  d.policy_id as "policyId", p.name as "policyName", o.entry_point as "entryPoint", i.paymaster`

/** What the included operations of the span cost, by group. */
export async function readGroups(
  db: Database,
  { chainId, from, until }: Span,
): Promise<readonly GroupTotal[]> {
  const { rows } = await sql<GroupTotal>`
    select ${group}, count(*) as operations,
      sum(coalesce(d.cost, i.actual_gas_cost))::numeric(78, 0) as cost
    from apps a join operations o on o.app_id = a.id and o.chain_id = ${chainId}
        and o.received_at >= ${from} and o.received_at < ${until} and o.state = 'included'
      ${booked}
    group by 1, 2, 3, 4, 5, 6, 7`.execute(db)
  return rows
}

/** The newest included operations of the span, `limit` at most, as many of each app where all have enough. */
export async function readPast(
  db: Database,
  { chainId, from, until }: Span,
  limit: number,
): Promise<readonly PastSpend[]> {
  const { rows } = await sql<PastSpend>`
    select ${group}, o.hash, o.sender, o.operation, o.shared_by as "sharedBy",
      i.block_hash as "blockHash", i.success, i.actual_gas_used as gas,
      coalesce(d.cost, i.actual_gas_cost) as cost, o.prefund as "maxCost"
    from (
      select k.chain_id, k.hash from apps a join lateral (
        select n.chain_id, n.hash, row_number() over (order by n.received_at desc, n.hash) as place
        from operations n
        where n.app_id = a.id and n.chain_id = ${chainId} and n.state = 'included'
          and n.received_at >= ${from} and n.received_at < ${until}
        order by n.received_at desc, n.hash limit ${limit}
      ) k on true
      order by k.place, k.hash limit ${limit}
    ) k join operations o on o.chain_id = k.chain_id and o.hash = k.hash
      join apps a on a.id = o.app_id
      ${booked}
    order by o.received_at desc, o.hash`.execute(db)
  return rows.map((row) => ({ ...row, operation: storedOperation(row.operation) }))
}
