import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../../db/database.js'

type BookedTank = {
  readonly appId: string | null
  readonly entryPoint: Address
  readonly address: Address
  readonly kind: 'gas' | 'token'
  readonly createdAt: Date
}

/** An included operation that a tank paid, as the ledger has it. */
type BookedCharge = {
  readonly entryPoint: Address
  readonly tank: Address
  readonly userOpHash: Hex
  readonly success: boolean
  /** wei */
  readonly cost: bigint
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** A reservation that an operation ended, with what it cost its payer. All amounts in wei. */
export type BookedReservation = {
  readonly id: bigint
  readonly entryPoint: Address
  /** The zero address = no paymaster pays, the credit of the app does. */
  readonly tank: Address
  readonly userOpHash: Hex
  readonly blockNumber: bigint
  readonly cost: bigint
  readonly rebate: bigint
  /** What the included sponsorship was charged to budgets and credit; null = to none. */
  readonly charged: bigint | null
  /** The fund whose credit it was charged to. */
  readonly fundId: string | null
  /** The transaction of a bundle of ours that the operation was in. */
  readonly transactionHash: Hex | null
  /** wei per gas up to which an operation without fees was granted. */
  readonly granted: bigint | null
}

/** Tokens that an operation paid a tank. */
type BookedPayment = {
  readonly tank: Address
  readonly userOpHash: Hex
  readonly token: Address
  readonly charged: bigint
  /** wei */
  readonly cost: bigint
  readonly blockNumber: bigint
}

/** An app's credit, wei. */
type BookedCredit = {
  readonly id: string
  readonly appId: string
  readonly createdAt: Date
  readonly credited: bigint
  /** The sum of the credits that were added. */
  readonly added: bigint
  /** The sum of the credits that were taken back. */
  readonly taken: bigint
  readonly settled: bigint
}

export type BookedMoney = {
  /** The newest block that the ledger is settled up to; undefined = it has read none. */
  readonly newest: { readonly number: bigint; readonly hash: Hex } | undefined
  readonly tanks: readonly BookedTank[]
  readonly charges: readonly BookedCharge[]
  readonly reservations: readonly BookedReservation[]
  readonly payments: readonly BookedPayment[]
  readonly credits: readonly BookedCredit[]
}

/** What the ledger has of a chain, all of one moment. */
export function readBookedMoney(db: Database, chainId: number): Promise<BookedMoney> {
  const chain = BigInt(chainId)
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const newest = await trx
        .selectFrom('chain_blocks')
        .select(['number', 'hash'])
        .where('chain_id', '=', chain)
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst()
      const tanks = await sql<BookedTank>`
        select app_id as "appId", entry_point as "entryPoint", address, kind, created_at as "createdAt"
        from tanks where chain_id = ${chain} order by created_at`.execute(trx)
      const charges = await sql<BookedCharge>`
        select i.entry_point as "entryPoint", i.paymaster as tank, i.user_op_hash as "userOpHash", i.success,
          i.actual_gas_cost as cost, i.transaction_hash as "transactionHash",
          i.block_number as "blockNumber", i.log_index as "logIndex"
        from inclusions i join tanks t on (t.chain_id, t.entry_point, t.address)
          = (i.chain_id, i.entry_point, i.paymaster)
        where i.chain_id = ${chain}`.execute(trx)
      const reservations = await sql<BookedReservation>`
        select r.id, r.entry_point as "entryPoint", r.paymaster as tank, r.user_op_hash as "userOpHash",
          r.block_number as "blockNumber", r.actual_cost as cost, r.rebate, c.charged, c.fund as "fundId",
          b.transaction_hash as "transactionHash",
          (select max(g.max_fee_per_gas) from grants g
            where (g.chain_id, g.user_op_hash) = (r.chain_id, r.user_op_hash)) as granted
        from reservations r
          left join (
            select c.reservation_id, max(f.id::text) as fund, max(c.settled) filter
              (where c.unit = 'wei' and d.user_op_hash = s.user_op_hash) as charged
            from charges c join decisions d on d.id = c.decision_id
              join reservations s on s.id = c.reservation_id left join funds f on f.id = c.policy_id
            where s.chain_id = ${chain} group by c.reservation_id
          ) c on c.reservation_id = r.id
          left join inclusions i on (i.chain_id, i.user_op_hash) = (r.chain_id, r.user_op_hash)
          left join bundles b on b.chain_id = r.chain_id and b.transaction_hash = i.transaction_hash
            and b.kind = 'operations'
        where r.chain_id = ${chain} and r.state in ('included', 'settled')`.execute(trx)
      const payments = await sql<BookedPayment>`
        select tank, user_op_hash as "userOpHash", token, charged, cost, block_number as "blockNumber"
        from token_payments where chain_id = ${chain}`.execute(trx)
      const credits = await sql<BookedCredit>`
        select f.id, f.app_id as "appId", f.created_at as "createdAt", f.credited,
          coalesce((select sum(amount) from credits where fund_id = f.id and amount > 0), 0)::numeric(78, 0) as added,
          coalesce((select -sum(amount) from credits where fund_id = f.id and amount < 0), 0)::numeric(78, 0) as taken,
          coalesce((select sum(settled) from budget_counters where policy_id = f.id), 0)::numeric(78, 0) as settled
        from funds f where f.chain_id = ${chain} and (f.mode <> 'tank' or f.credited > 0)
        order by f.created_at`.execute(trx)
      return {
        newest,
        tanks: tanks.rows,
        charges: charges.rows,
        reservations: reservations.rows,
        payments: payments.rows,
        credits: credits.rows,
      }
    })
}
