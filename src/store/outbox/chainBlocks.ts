import type { Hex } from 'viem'
import type { Database, Transaction } from '../database.js'

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

/** The last indexed block of each chain, by chain id. */
export async function lastIndexed(db: Database): Promise<ReadonlyMap<number, bigint>> {
  const rows = await db
    .selectFrom('chain_blocks')
    .select(({ fn }) => ['chain_id', fn.max('number').as('number')])
    .groupBy('chain_id')
    .execute()
  return new Map(rows.map(({ chain_id, number }) => [Number(chain_id), number]))
}

export async function putBlock(
  trx: Transaction,
  chainId: number,
  block: ChainBlock,
): Promise<void> {
  await trx
    .insertInto('chain_blocks')
    .values({ chain_id: BigInt(chainId), ...block })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'number'])
        .doUpdateSet((eb) => ({ hash: eb.ref('excluded.hash') })),
    )
    .execute()
}

/**
 * Forgets final blocks: all below the newest one that is `number` or older, which stays as the place
 * to return to after the deepest reorg. Block 0 stays too.
 */
export async function pruneBlocks(
  trx: Transaction,
  chainId: number,
  number: bigint,
): Promise<void> {
  await trx
    .deleteFrom('chain_blocks')
    .where('chain_id', '=', BigInt(chainId))
    .where('number', '>', 0n)
    .where('number', '<', ({ selectFrom, fn }) =>
      selectFrom('chain_blocks')
        .select(fn.max('number').as('anchor'))
        .where('chain_id', '=', BigInt(chainId))
        .where('number', '<=', number),
    )
    .execute()
}
