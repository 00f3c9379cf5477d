import { sql } from 'kysely'
import type { Database } from '../database.js'
import type { ReservationSlot } from './reservations.js'

/** wei that a token tank pays, or paid, before it gets its tokens (mode `afterwards`), for one app. */
export type Advances = {
  /** Open quotes of the sender. */
  readonly ofSender: bigint
  /** Open quotes of all senders. */
  readonly ofApp: bigint
  /** Costs for which the tank got nothing, since a moment. */
  readonly lost: bigint
  /** Whether the sender has ever paid the tank. */
  readonly hasPaid: boolean
}

/** The advances of a tank, of which the transaction has stored those that it grants. */
export async function readAdvances(
  db: Database,
  { chainId, entryPoint, paymaster, appId, sender }: Omit<ReservationSlot, 'nonce'>,
  since: Date,
): Promise<Advances> {
  const ofTank = sql`p.chain_id = ${BigInt(chainId)} and p.tank = ${paymaster}`
  const { rows } = await sql<Record<'of_sender' | 'of_app' | 'lost', bigint> & { paid: boolean }>`
    select coalesce(sum(each.most) filter (where each.sender = ${sender}), 0)::numeric(78, 0)
        as of_sender,
      coalesce(sum(each.most), 0)::numeric(78, 0) as of_app,
      (select coalesce(sum(p.cost), 0)::numeric(78, 0) from token_payments p
        where ${ofTank} and p.app_id = ${appId} and p.missed and p.booked_at > ${since}) as lost,
      exists (select from inclusions i join token_payments p
          on p.chain_id = i.chain_id and p.user_op_hash = i.user_op_hash
        where i.chain_id = ${BigInt(chainId)} and i.entry_point = ${entryPoint}
          and i.sender = ${sender} and ${ofTank} and not p.missed) as paid
    from (
      select r.sender, max(d.max_cost) as most
      from reservations r join decisions d on d.reservation_id = r.id
        join token_quotes q on q.decision_id = d.id
      where r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint}
        and r.paymaster = ${paymaster} and r.app_id = ${appId} and r.state = 'open'
        and q.mode = 'afterwards'
      group by r.id, r.sender) as each`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a sum without a row')
  const { of_sender: ofSender, of_app: ofApp, lost, paid: hasPaid } = row
  return { ofSender, ofApp, lost, hasPaid }
}
