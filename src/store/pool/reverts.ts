import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../database.js'

/** A sender and the app that sends its operation. */
export type RevertSubject = {
  readonly sender: Address
  readonly entryPoint: Address
  readonly appId: string
}

/** Bundles that operations made fail on the chain: those of a sender in a day, of an app in an hour. */
export type Reverts = {
  readonly ofSender: number
  /** Seconds since the last one of the sender; 0 without any. */
  readonly age: number
  readonly ofApp: number
  /** Whether an operation of the sender was included before. */
  readonly isKnown: boolean
  /**
   * Pooled and bundled operations of the app whose senders are not known; counted only where the app has
   * reverts.
   */
  readonly pendingOfApp: number
}

/**
 * The reverts of each subject, in their order. A failure of the paymaster (AA3x, AA5x) counts for the app
 * only: the sender cannot help it.
 */
export async function readReverts(
  db: Database,
  chainId: number,
  subjects: readonly RevertSubject[],
): Promise<Reverts[]> {
  const { rows } = await sql<{
    of_sender: bigint
    age: number | null
    of_app: bigint
    known: boolean
    pending: bigint
  }>`
    select s.count as of_sender, s.age, a.count as of_app,
      a.count > 0 and exists (select from inclusions i where i.chain_id = ${chainId}
        and i.entry_point = e.entry_point and i.sender = e.sender) as known,
      case when a.count = 0 then 0 else (select count(*) from operations o
        where o.chain_id = ${chainId} and o.app_id = e.app_id
          and o.app_id > '00000000-0000-0000-0000-000000000000'
          and o.state in ('pooled', 'bundled')
          and not exists (select from inclusions i where i.chain_id = o.chain_id
            and i.entry_point = o.entry_point and i.sender = o.sender)) end as pending
    from unnest(${subjects.map(({ sender }) => sender)}::text[],
        ${subjects.map(({ entryPoint }) => entryPoint)}::text[],
        ${subjects.map(({ appId }) => appId)}::uuid[])
      with ordinality as e(sender, entry_point, app_id, place)
    cross join lateral (select count(*) as count,
        extract(epoch from now() - max(o.updated_at))::float8 as age
      from operations o where o.chain_id = ${chainId} and o.sender = e.sender
        and o.state = 'dropped' and o.bundle_id is not null
        and o.updated_at > now() - interval '1 day' and o.reason_code !~ '^AA[35]') as s
    cross join lateral (select count(*) as count
      from operations o where o.chain_id = ${chainId} and o.app_id = e.app_id
        and o.state = 'dropped' and o.bundle_id is not null
        and o.updated_at > now() - interval '1 hour') as a
    order by e.place`.execute(db)
  return rows.map((row) => ({
    ofSender: Number(row.of_sender),
    age: row.age ?? 0,
    ofApp: Number(row.of_app),
    isKnown: row.known,
    pendingOfApp: Number(row.pending),
  }))
}
