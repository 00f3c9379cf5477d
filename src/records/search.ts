import { sql } from 'kysely'
import type { Address } from 'viem'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import { listOperations } from './operations.js'
import { isOf } from '../mempool/pool/operations.js'

/** A thing that a search found. */
export const hit = z.object({
  kind: z.enum([
    'operation',
    'transaction',
    'decision',
    'refusal',
    'app',
    'key',
    'policy',
    'webhook',
    'subscription',
    'tank',
    'sender',
    'account',
    'user',
  ]),
  id: z.string(),
  /** By which people know it; null = it has none. */
  name: z.string().nullable(),
  appId: z.string().nullable(),
  chainId: z.int().nullable(),
})

type Hit = z.output<typeof hit>

const MOST_HITS = 50

/** The things of the account (undefined = of all) that a hash, an address or an id names. */
export async function search(
  db: Database,
  accountId: string | undefined,
  chainIds: readonly number[],
  text: string,
): Promise<readonly Hit[]> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const chains = sql`any(${chainIds.map(BigInt)}::bigint[])`
  const wanted = text.toLowerCase()
  if (isUuid(wanted)) return hitsOf(db, ofId(wanted, own))
  if (/^0x[0-9a-f]{64}$/.test(wanted)) return hitsOf(db, ofHash(wanted, own, chains))
  if (/^0x[0-9a-f]{4,63}$/.test(wanted) && wanted.length !== 42)
    return accountId === undefined ? [] : hitsOf(db, ofBeginning(wanted, accountId, chains))
  if (!wanted.startsWith('0x')) return hitsOf(db, ofName(wanted, accountId, own))
  if (!/^0x[0-9a-f]{40}$/.test(wanted)) return []
  const address = wanted as Address
  const page = { limit: 1, before: undefined }
  const { items } = await listOperations(db, { accountId, sender: address }, page)
  const senders = items.map(
    (): Hit => ({ kind: 'sender', id: address, name: null, appId: null, chainId: null }),
  )
  const tanks = sql`select 'tank', t.id::text, t.app_id::text, t.chain_id, null from tanks t
    join apps a on a.id = t.app_id where t.address = ${address} and ${own}`
  return [...senders, ...(await hitsOf(db, [tanks]))]
}

type Part = ReturnType<typeof sql>

async function hitsOf(db: Database, parts: readonly Part[]): Promise<readonly Hit[]> {
  const { rows } =
    await sql<Hit>`select kind, id, name, app_id as "appId", chain_id::float8 as "chainId"
    from (${sql.join(parts, sql` union `)}) as hit (kind, id, app_id, chain_id, name)
    order by kind, name, id limit ${MOST_HITS}`.execute(db)
  return rows
}

function ofId(id: string, own: Part): Part[] {
  const ofApp = (kind: Hit['kind'], table: string): Part =>
    sql`select ${sql.lit(kind)}, t.id::text, t.app_id::text, null::bigint, null::text
      from ${sql.table(table)} t join apps a on a.id = t.app_id where t.id = ${id} and ${own}`
  return [
    sql`select 'app', a.id::text, a.id::text, null::bigint, a.name from apps a where a.id = ${id} and ${own}`,
    sql`select 'policy', a.id::text, a.app_id::text, null::bigint, a.name from policies a
      where a.id = ${id} and ${own}`,
    ofApp('decision', 'decisions'),
    ofApp('refusal', 'refusals'),
    // The request id that the caller was answered; a batch has one for all its calls.
    sql`select 'refusal', t.id::text, t.app_id::text, t.chain_id, null from refusals t
      join apps a on a.id = t.app_id where t.request_id = ${id} and ${own}`,
    ofApp('key', 'keys'),
    ofApp('webhook', 'webhooks'),
    ofApp('subscription', 'event_subscriptions'),
    ofApp('tank', 'tanks'),
  ]
}

function ofHash(hash: string, own: Part, chains: Part): Part[] {
  return [
    sql`select 'operation', o.hash, o.app_id::text, o.chain_id, null from operations o
      join apps a on a.id = o.app_id where o.chain_id = ${chains} and o.hash = ${hash} and ${own}`,
    sql`select 'decision', d.id::text, d.app_id::text, d.chain_id, null from decisions d
      join apps a on a.id = d.app_id
      where d.chain_id = ${chains} and d.user_op_hash = ${hash} and ${own}`,
    // The operations that a transaction carries, or carried before it was replaced.
    sql`select 'operation', o.hash, o.app_id::text, o.chain_id, null from bundle_transactions t
      join bundles b on b.id = t.bundle_id join operations o on ${isOf}
      join apps a on a.id = o.app_id
      where t.chain_id = ${chains} and t.hash = ${hash} and ${own}`,
    sql`select 'transaction', t.hash, null::text, t.chain_id, null from bundle_transactions t
      where t.chain_id = ${chains} and t.hash = ${hash} and exists (select from bundles b
        join operations o on ${isOf} join apps a on a.id = o.app_id where b.id = t.bundle_id and ${own})`,
  ]
}

/** The newest operations of each app that a search by the beginning of a hash or address looks at. */
const MOST_LOOKED_AT = 2_000

/** Operations and senders by the first digits of their hash or address. */
function ofBeginning(digits: string, accountId: string, chains: Part): Part[] {
  const newest = sql`apps a cross join lateral (
      select o.hash, o.sender, o.chain_id from operations o
      where o.app_id = a.id and o.chain_id = ${chains} order by o.received_at desc limit ${MOST_LOOKED_AT}
    ) o`
  const begins = `${digits}%`
  return [
    sql`select 'operation', o.hash, a.id::text, o.chain_id, null from ${newest}
      where a.account_id = ${accountId} and o.hash like ${begins}`,
    sql`select distinct 'sender', o.sender, null::text, null::bigint, null from ${newest}
      where a.account_id = ${accountId} and o.sender like ${begins}`,
  ]
}

/** Things that people gave a name, by a part of it; accounts and users for the operator of all. */
function ofName(text: string, accountId: string | undefined, own: Part): Part[] {
  const part = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const parts = [
    sql`select 'app', a.id::text, a.id::text, null::bigint, a.name from apps a
      where a.revoked_at is null and a.name ilike ${part} and ${own}`,
    sql`select 'policy', a.id::text, a.app_id::text, null::bigint, a.name from policies a
      where a.name ilike ${part} and ${own}`,
    sql`select 'key', k.id::text, k.app_id::text, null::bigint, k.name from keys k
      join apps a on a.id = k.app_id where k.name ilike ${part} and ${own}`,
    sql`select 'webhook', w.id::text, w.app_id::text, null::bigint, w.url from webhooks w
      join apps a on a.id = w.app_id where w.url ilike ${part} and ${own}`,
  ]
  if (accountId !== undefined) return parts
  return [
    ...parts,
    sql`select 'account', c.id::text, null::text, null::bigint, c.name from accounts c
      where c.revoked_at is null and c.name ilike ${part}`,
    sql`select 'user', u.id::text, null::text, null::bigint, u.email from users u
      where u.email ilike ${part} or u.name ilike ${part}`,
  ]
}
