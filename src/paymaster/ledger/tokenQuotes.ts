import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction } from '../../db/database.js'
import { lockReserving } from './reservations.js'

/** The terms to which a decision to take tokens binds the tank. */
type NewTokenQuote = {
  readonly decisionId: string
  readonly chainId: number
  readonly token: Address
  readonly mode: 'prefund' | 'afterwards' | 'permit'
  /** Smallest token units per 10^18 wei. */
  readonly rate: bigint
  readonly markup: number
  /** Smallest token units. */
  readonly maxCharge: bigint
}

/** Stores a quote in the transaction of its decision. */
export async function insertTokenQuote(
  trx: Transaction,
  { decisionId, chainId, token, mode, rate, markup, maxCharge }: NewTokenQuote,
): Promise<void> {
  const row = { chain_id: BigInt(chainId), token, mode, rate, markup, max_charge: maxCharge }
  await trx
    .insertInto('token_quotes')
    .values({ decision_id: decisionId, ...row })
    .execute()
}

/** Locks a token until the transaction ends: no other transaction, in any process, quotes it. */
export function lockToken(trx: Transaction, chainId: number, token: Address): Promise<void> {
  return lockReserving(trx, [`token ${chainId} ${token}`])
}

/**
 * Smallest token units that quotes may still bring in beyond those that the tanks held at `block`: the
 * largest quote of each reservation that is open or was included later.
 */
export async function promisedTokens(
  db: Database,
  { chainId, token, appId }: { chainId: number; token: Address; appId?: string },
  block: bigint,
): Promise<bigint> {
  const ofApp = appId === undefined ? sql`true` : sql`r.app_id = ${appId}::uuid`
  const { rows } = await sql<{ promised: bigint }>`
    select coalesce(sum(most), 0)::numeric(78, 0) as promised from (
      select max(q.max_charge) as most
      from token_quotes q join decisions d on d.id = q.decision_id
        join reservations r on r.id = d.reservation_id
      where r.chain_id = ${chainId} and q.chain_id = r.chain_id and q.token = ${token} and ${ofApp}
        and (r.state = 'open' or (r.state = 'included' and r.block_number > ${block}))
      group by r.id) as each`.execute(db)
  return rows[0]?.promised ?? 0n
}
