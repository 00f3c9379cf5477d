import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { Database, Transaction, TransactionExecutor } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { emitOperationEvents } from '../../db/events.js'
import { lockTurn } from '../../db/lockTurn.js'
import { pipelined } from '../../db/pipelined.js'
import { forgetBounds, lockPool } from '../../mempool/pool/bounds.js'
import { isLive } from '../../mempool/pool/operations.js'
import { countReputations } from '../../mempool/pool/reputations.js'
import { undoLedger } from '../../paymaster/ledger/ledger.js'
import { undoTokenPayments } from '../../paymaster/ledger/tokenPayments.js'
import { undoSurpluses } from './surpluses.js'

export type ChainBlock = { readonly number: bigint; readonly hash: Hex }

/**
 * The blocks up to which the chain was indexed, newest first. Block 0 is among them as the chain's
 * identity; the others reach back as far as a fork is still expected.
 */
export async function indexedBlocks(db: Database, chainId: number): Promise<ChainBlock[]> {
  return db
    .selectFrom('chain_blocks')
    .select(['number', 'hash'])
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('number', 'desc')
    .execute()
}

/** The hash of the chain's block 0, if it was indexed. */
export async function indexedGenesis(db: Database, chainId: number): Promise<Hex | undefined> {
  const row = await db
    .selectFrom('chain_blocks')
    .select('hash')
    .where('chain_id', '=', BigInt(chainId))
    .where('number', '=', 0n)
    .executeTakeFirst()
  return row?.hash
}

/** The last indexed block of each chain, by chain id. */
export async function lastIndexed(db: Database): Promise<ReadonlyMap<number, bigint>> {
  const rows = await db
    .selectFrom('chain_blocks')
    .select(({ fn }) => ['chain_id', fn.max('number').as('number')])
    .groupBy('chain_id')
    .execute()
  return new Map(rows.map(({ chain_id, number }) => [Number(chain_id), number]))
}

/**
 * Stores a block, and forgets final ones: all below the newest one that is `final` or older, which stays as the place
 * to return to after the deepest reorg. Block 0 stays too.
 */
export async function putBlock(
  trx: Transaction,
  chainId: number,
  { number, hash }: ChainBlock,
  final: bigint,
): Promise<void> {
  await sql`with forgotten as (
      delete from chain_blocks where chain_id = ${chainId} and number > 0
        and number < (select max(number) from chain_blocks
          where chain_id = ${chainId} and number <= ${final})
    )
    insert into chain_blocks (chain_id, number, hash) values (${chainId}, ${number}, ${hash})
    on conflict (chain_id, number) do update set hash = excluded.hash`.execute(trx)
}

/**
 * Excludes rollbacks until the transaction ends, and others that settle what the index has missed; admissions and the index
 * itself go on.
 */
export function lockIndex(trx: Transaction, chainId: number): Promise<void> {
  return lockTurn(trx, `index ${chainId}`)
}

/**
 * Undoes the blocks above `fork`. Our bundles mined there are open again and hold their operations;
 * operations of other bundlers' transactions return to the pool. An operation gives way to another one
 * that has taken its sender and nonce meanwhile: for that, and only at the end, admissions wait.
 */
export async function rollBack(trx: Transaction, chainId: number, fork: bigint): Promise<Hex[]> {
  await lockIndex(trx, chainId)
  await sql`
    update bundles b set state = 'signed', transaction_hash = null, cost = null, updated_at = now()
    from transaction_receipts r
    where r.chain_id = ${chainId} and r.block_number > ${fork} and b.chain_id = r.chain_id
      and b.transaction_hash = r.hash and b.state in ('included', 'reverted', 'cancelled')`.execute(
    trx,
  )
  await undoBooks(trx, chainId, fork)
  const returned = await pipelined(trx, async (statements) => {
    const [, , rows] = await Promise.all([
      lockPool(statements, chainId),
      forgetBounds(statements, chainId),
      returnOperations(statements, chainId, fork),
      forgetInclusions(statements, chainId, fork),
    ])
    return rows
  })
  const replaced = returned.filter(({ state }) => state === 'replaced')
  await emitOperationEvents(
    trx,
    chainId,
    replaced.map(({ hash }) => hash),
  )
  const excluded = returned.map(({ hash }) => hash)
  await countReputations(trx, chainId, { excluded })
  return excluded
}

/**
 * Takes operations that were included above `fork` back into the pool or their bundles. One ends whose nonce another has,
 * live or included: of both branches one may be known already, where a client asked for it (`settleFound`).
 */
async function returnOperations(
  statements: TransactionExecutor,
  chainId: number,
  fork: bigint,
): Promise<{ readonly hash: Hex; readonly state: string }[]> {
  const ofSlot = (table: string) =>
    sql`(i.chain_id, i.entry_point, i.sender, i.nonce) = (${sql.join(
      ['chain_id', 'entry_point', 'sender', 'nonce'].map((name) => sql.ref(`${table}.${name}`)),
    )})`
  const { rows } = await sql<{ hash: Hex; state: string }>`
    update operations o set
      state = case when other.hash is not null then 'replaced'
        when o.bundle_id is null then 'pooled' else 'bundled' end,
      reason_code = case when other.hash is not null then ${REPLACED}::text end,
      reason = 'a reorganisation of the chain undid its block, and meanwhile operation '
        || other.hash || ' had taken its nonce',
      bundle_id = case when other.hash is null then o.bundle_id end,
      updated_at = now()
    from inclusions i left join lateral (
      select hash from live_operations l where ${ofSlot('l')}
      union all
      select hash from inclusions j join operations p
        on p.chain_id = j.chain_id and p.hash = j.user_op_hash and p.state = 'included'
      where ${ofSlot('j')} and j.block_number > ${fork} and p.hash > i.user_op_hash
      limit 1) other on true
    where i.chain_id = ${chainId} and i.block_number > ${fork}
      and o.chain_id = i.chain_id and o.hash = i.user_op_hash and o.state = 'included'
    returning o.hash, o.state`.execute(statements)
  return rows
}

const REPLACED: DropCode = 'REPLACED'
const CHAIN_RESET: DropCode = 'CHAIN_RESET'

/**
 * Forgets a chain that began anew (a development chain was reset). Open bundles are abandoned, and
 * their operations return to the pool for the new chain; included operations are dropped.
 */
export async function forgetChain(trx: Transaction, chainId: number): Promise<void> {
  await sql`update bundles set state = 'abandoned', updated_at = now()
    where chain_id = ${chainId} and state = 'signed'`.execute(trx)
  await sql`update operations o set state = 'pooled', bundle_id = null, updated_at = now()
    from live_operations l
    where l.chain_id = ${chainId} and l.state = 'bundled' and ${isLive} and o.state = 'bundled'`.execute(
    trx,
  )
  await sql`update operations set state = 'dropped', reason_code = ${CHAIN_RESET}, bundle_id = null,
    reason = 'the chain was reset after this operation was included', updated_at = now()
    where chain_id = ${chainId} and state = 'included'`.execute(trx)
  await undoBooks(trx, chainId, -1n)
  await forgetInclusions(trx, chainId, -1n)
}

/** Undoes in the books of money, and in what no admission reads, the blocks above `fork`. */
async function undoBooks(trx: Transaction, chainId: number, fork: bigint): Promise<void> {
  await undoLedger(trx, chainId, fork)
  await undoTokenPayments(trx, chainId, fork)
  await undoSurpluses(trx, chainId, fork)
  await sql`delete from transaction_receipts
    where chain_id = ${chainId} and block_number > ${fork}`.execute(trx)
  await sql`delete from chain_blocks
    where chain_id = ${chainId} and number > ${fork}`.execute(trx)
}

async function forgetInclusions(
  statements: TransactionExecutor,
  chainId: number,
  fork: bigint,
): Promise<void> {
  await sql`delete from inclusions where chain_id = ${chainId} and block_number > ${fork}`.execute(
    statements,
  )
}
