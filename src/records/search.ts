import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import { listOperations } from './operations.js'

/** A thing that a search found. */
type Hit = {
  readonly kind:
    | 'operation'
    | 'transaction'
    | 'decision'
    | 'refusal'
    | 'app'
    | 'key'
    | 'policy'
    | 'webhook'
    | 'subscription'
    | 'tank'
    | 'sender'
  readonly id: string
  readonly appId: string | null
  readonly chainId: bigint | null
}

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
  if (!/^0x[0-9a-f]{40}$/.test(wanted)) return []
  const address = wanted as Address
  const page = { limit: 1, before: undefined }
  const { items } = await listOperations(db, { accountId, sender: address }, page)
  const senders = items.map(
    (): Hit => ({ kind: 'sender', id: address, appId: null, chainId: null }),
  )
  const tanks = sql`select 'tank', t.id::text, t.app_id::text, t.chain_id from tanks t
    join apps a on a.id = t.app_id where t.address = ${address} and ${own}`
  return [...senders, ...(await hitsOf(db, [tanks]))]
}

type Part = ReturnType<typeof sql>

async function hitsOf(db: Database, parts: readonly Part[]): Promise<readonly Hit[]> {
  const { rows } = await sql<Hit>`select kind, id, app_id as "appId", chain_id as "chainId"
    from (${sql.join(parts, sql` union `)}) as hit (kind, id, app_id, chain_id)
    order by kind, id limit ${MOST_HITS}`.execute(db)
  return rows
}

function ofId(id: string, own: Part): Part[] {
  const ofApp = (kind: Hit['kind'], table: string): Part =>
    sql`select ${sql.lit(kind)}, t.id::text, t.app_id::text, null::bigint
      from ${sql.table(table)} t join apps a on a.id = t.app_id where t.id = ${id} and ${own}`
  return [
    sql`select 'app', a.id::text, a.id::text, null::bigint from apps a where a.id = ${id} and ${own}`,
    sql`select 'policy', a.id::text, a.app_id::text, null::bigint from policies a
      where a.id = ${id} and ${own}`,
    ofApp('decision', 'decisions'),
    ofApp('refusal', 'refusals'),
    // The request id that the caller was answered; a batch has one for all its calls.
    sql`select 'refusal', t.id::text, t.app_id::text, t.chain_id from refusals t
      join apps a on a.id = t.app_id where t.request_id = ${id} and ${own}`,
    ofApp('key', 'keys'),
    ofApp('webhook', 'webhooks'),
    ofApp('subscription', 'event_subscriptions'),
    ofApp('tank', 'tanks'),
  ]
}

function ofHash(hash: string, own: Part, chains: Part): Part[] {
  return [
    sql`select 'operation', o.hash, o.app_id::text, o.chain_id from operations o
      join apps a on a.id = o.app_id where o.chain_id = ${chains} and o.hash = ${hash} and ${own}`,
    sql`select 'decision', d.id::text, d.app_id::text, d.chain_id from decisions d
      join apps a on a.id = d.app_id
      where d.chain_id = ${chains} and d.user_op_hash = ${hash} and ${own}`,
    // The operations that a transaction carries, or carried before it was replaced.
    sql`select 'operation', o.hash, o.app_id::text, o.chain_id from bundle_transactions t
      join operations o on o.bundle_id = t.bundle_id join apps a on a.id = o.app_id
      where t.chain_id = ${chains} and t.hash = ${hash} and ${own}`,
    sql`select 'transaction', t.hash, null::text, t.chain_id from bundle_transactions t
      where t.chain_id = ${chains} and t.hash = ${hash} and exists (select from operations o
        join apps a on a.id = o.app_id where o.bundle_id = t.bundle_id and ${own})`,
  ]
}
