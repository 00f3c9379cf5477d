import { type RawBuilder, sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../../db/database.js'
import type { Payer } from './reservations.js'

/** A question about sponsorships that no pending operation uses. */
export type UnsentQuery = {
  /** Each with the app that asks: what other apps have sponsored for it does not count. */
  readonly senders: readonly { readonly appId: string; readonly sender: Address }[]
  readonly apps: readonly {
    readonly appId: string
    /** wei locked of the payer's deposit up to which nobody need know what new senders hold */
    readonly harmless: bigint
  }[]
  /** Unix seconds; reservations that end before lock nothing. */
  readonly timestamp: number
}

/** The unsent sponsorships that an app made for one sender from a payer. */
type UnsentOfSender = {
  readonly appId: string
  readonly sender: Address
  /** Whether an operation of the sender was ever included. */
  readonly isKnown: boolean
  readonly held: readonly {
    readonly nonce: bigint
    /** wei */
    readonly maxCost: bigint
  }[]
}

export type UnsentRead = {
  readonly senders: readonly UnsentOfSender[]
  /**
   * wei that senders without an included operation hold, of each app that has senders with one, where it may
   * matter.
   */
  readonly ofNewSenders: readonly { readonly appId: string; readonly wei: bigint }[]
}

/** The rows of `unsentParts` as the database gives them. */
export type UnsentRow = {
  readonly unsentSenders: readonly {
    readonly appId: string
    readonly sender: Address
    readonly known: boolean
    readonly held: readonly { nonce: string; maxCost: string }[] | null
  }[]
  readonly unsentApps: readonly { readonly appId: string; readonly wei: string }[]
}

/** More unsent sponsorships of one sender than any bound allows need not be read. */
const MOST_READ = 64

/**
 * Columns of a statement that has the payer's row as `p`: `unsentSenders` and `unsentApps`, as JSON. What new
 * senders of an app hold is summed only where the payer has more locked than is harmless, because it
 * takes a look at each open reservation of the app.
 */
export function unsentParts(payer: Payer, { senders, apps, timestamp }: UnsentQuery) {
  const { chainId, entryPoint, paymaster } = payer
  const isUnsent = sql`r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint}
    and r.paymaster = ${paymaster} and r.state = 'open' and r.valid_until >= ${BigInt(timestamp)}
    and not exists (select from live_operations l where l.chain_id = r.chain_id
      and l.entry_point = r.entry_point and l.sender = r.sender and l.nonce = r.nonce)`
  return sql`(
      select coalesce(jsonb_agg(jsonb_build_object('appId', s.app_id, 'sender', s.sender,
        'known', ${isKnown(payer, sql`s.sender`)},
        'held', (select jsonb_agg(each.held) from (
          select jsonb_build_object('nonce', r.nonce::text, 'maxCost', r.max_cost::text) as held
          from reservations r where r.sender = s.sender and r.app_id = s.app_id and ${isUnsent}
          limit ${MOST_READ}) as each))), '[]')
      from unnest(${senders.map(({ appId }) => appId)}::uuid[],
        ${senders.map(({ sender }) => sender)}::text[]) as s (app_id, sender)) as "unsentSenders", (
      select coalesce(jsonb_agg(jsonb_build_object('appId', a.app_id, 'wei', (
        select coalesce(sum(r.max_cost), 0)::text from reservations r
        where r.app_id = a.app_id and not ${isKnown(payer, sql`r.sender`)} and ${isUnsent}))), '[]')
      from unnest(${apps.map(({ appId }) => appId)}::uuid[],
        ${apps.map(({ harmless }) => harmless)}::numeric[]) as a (app_id, harmless)
      where p.locked > a.harmless and exists (select from reservations k
        where k.chain_id = ${BigInt(chainId)} and k.app_id = a.app_id
          and k.state in ('included', 'settled') and k.actual_cost > 0)) as "unsentApps"`
}

function isKnown(
  { chainId, entryPoint }: Pick<Payer, 'chainId' | 'entryPoint'>,
  sender: RawBuilder<unknown>,
) {
  return sql`exists (select from inclusions i where i.chain_id = ${BigInt(chainId)}
    and i.entry_point = ${entryPoint} and i.sender = ${sender})`
}

/** Whether an operation of the sender was ever included. */
export async function hasHistory(
  db: Database,
  payer: Pick<Payer, 'chainId' | 'entryPoint'>,
  sender: Address,
): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select ${isKnown(payer, sql`${sender}`)} as known`.execute(db)
  return rows[0]?.known === true
}

/** The meaning of these columns. */
export function toUnsent({ unsentSenders, unsentApps }: UnsentRow): UnsentRead {
  return {
    senders: unsentSenders.map(({ appId, sender, known, held }) => ({
      appId,
      sender,
      isKnown: known,
      held: (held ?? []).map(({ nonce, maxCost }) => ({
        nonce: BigInt(nonce),
        maxCost: BigInt(maxCost),
      })),
    })),
    ofNewSenders: unsentApps.map(({ appId, wei }) => ({ appId, wei: BigInt(wei) })),
  }
}
