import { sql } from 'kysely'
import type { Database } from '../../db/database.js'
import { type CounterQuery, usedOfEach } from './budgetCounters.js'
import { type LockedAt, lockedAtEach, type Moment } from './payers.js'
import type { ReservationState } from './reservations.js'
import {
  isLiveReservation,
  type LiveReservation,
  MOST_SPONSORSHIPS,
  type Payer,
  type ReservationSlot,
} from './reservations.js'
import {
  toUnsent,
  type UnsentQuery,
  type UnsentRead,
  type UnsentRow,
  unsentParts,
} from './unsent.js'

/** The parts of the ledger that decide about sponsorships of one payer. */
export type LedgerQuery = {
  readonly slots: readonly ReservationSlot[]
  readonly moments: readonly Moment[]
  readonly counters: readonly CounterQuery[]
  readonly unsent: UnsentQuery
}

/** The answer of the ledger, each list in the order of its query. */
export type LedgerBooks = {
  /** The live reservations of the slots. */
  readonly slots: readonly (LiveReservation | undefined)[]
  /** Amounts that live reservations lock of the payer's deposit, at each moment. */
  readonly locked: readonly LockedAt[]
  /** The stored amount, with its moment. */
  readonly kept: LockedAt
  /** The used amount of each budget, in its unit. */
  readonly used: readonly bigint[]
  readonly unsent: UnsentRead
}

type Row = UnsentRow & {
  readonly slots: readonly {
    readonly place: number
    readonly id: string
    readonly state: ReservationState
    readonly maxCost: string
    readonly validUntil: string
    readonly blockNumber: string | null
    readonly sponsorships: number
  }[]
  readonly locked: readonly string[]
  readonly used: readonly string[]
  readonly keptLocked: bigint | null
  readonly keptBlock: bigint | null
  readonly keptTime: bigint | null
}

/** The ledger's answer, read in one statement and so at one moment. */
export async function readLedger(
  db: Database,
  payer: Payer,
  { slots, moments, counters, unsent }: LedgerQuery,
): Promise<LedgerBooks> {
  const { chainId, entryPoint, paymaster } = payer
  const { rows } = await sql<Row>`
    select ${liveOfEach(payer, slots)} as slots, ${lockedAtEach(payer, moments)} as locked,
      ${usedOfEach(counters)} as used, p.locked as "keptLocked", p.block_number as "keptBlock",
      p.timestamp as "keptTime", ${unsentParts(payer, unsent)}
    from (select) as one left join payers p on p.chain_id = ${BigInt(chainId)}
      and p.entry_point = ${entryPoint} and p.paymaster = ${paymaster}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a left join without a row')
  const liveByPlace = new Map(row.slots.map((reservation) => [reservation.place, reservation]))
  return {
    slots: slots.map((_, place) => {
      const reservation = liveByPlace.get(place + 1)
      return (
        reservation && {
          id: BigInt(reservation.id),
          state: reservation.state,
          maxCost: BigInt(reservation.maxCost),
          validUntil: BigInt(reservation.validUntil),
          blockNumber: reservation.blockNumber === null ? null : BigInt(reservation.blockNumber),
          sponsorships: reservation.sponsorships,
        }
      )
    }),
    // A payer that is not known has never had a reservation.
    locked: moments.map((moment, place) => ({
      ...moment,
      locked: BigInt(row.locked[place] ?? 0),
    })),
    kept: {
      locked: row.keptLocked ?? 0n,
      blockNumber: row.keptBlock ?? -1n,
      timestamp: Number(row.keptTime ?? 0),
    },
    used: row.used.map(BigInt),
    unsent: toUnsent(row),
  }
}

/** The live reservations as JSON, with numbers as text because numbers of JSON are floating point. */
function liveOfEach({ chainId, entryPoint, paymaster }: Payer, slots: readonly ReservationSlot[]) {
  return sql`(
      select coalesce(jsonb_agg(jsonb_build_object('place', s.place, 'id', r.id::text,
        'state', r.state, 'maxCost', r.max_cost::text, 'validUntil', r.valid_until::text,
        'blockNumber', r.block_number::text, 'sponsorships', (select count(*) from (
          select from decisions d where d.reservation_id = r.id limit ${MOST_SPONSORSHIPS}) as each))), '[]')
      from unnest(
        ${slots.map(({ appId }) => appId)}::uuid[],
        ${slots.map(({ sender }) => sender)}::text[],
        ${slots.map(({ nonce }) => nonce)}::numeric[]
      ) with ordinality as s (app_id, sender, nonce, place)
      join reservations r on r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint}
        and r.sender = s.sender and r.nonce = s.nonce and r.app_id = s.app_id
        and r.paymaster = ${paymaster} and ${isLiveReservation})`
}
