import { sql } from 'kysely'
import type { ComingBlock } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import type { Database } from '../../db/database.js'
import { expiresPooled } from '../../mempool/pool/operations.js'
import { reputationsLag } from '../../mempool/pool/reputations.js'
import { endsReservations, hasOpenReservations } from '../../paymaster/ledger/reservations.js'
import type { ChainBlock } from './chainBlocks.js'
import { mayBeIncluded } from './inclusions.js'
import { owesSurplus } from './surpluses.js'

/** The newest indexed block of a chain, and the kinds of work that the database holds for it. */
export type DueWork = {
  /** Undefined where nothing was indexed yet. */
  readonly newestBlock: ChainBlock | undefined
  /** The id of the newest bundle of any state; 0 = none. */
  readonly newestBundle: bigint
  readonly hasOpenBundles: boolean
  /** A block may include an operation that was sent to us, or that we sponsored. */
  readonly awaitsInclusion: boolean
  readonly endsReservations: boolean
  readonly expiresPooled: boolean
  readonly reputationsLag: boolean
  readonly owesSurplus: boolean
}

/** The head of a chain, and what follows from it. */
type Moment = {
  readonly head: Head
  /** The newest block that no reorg undoes. */
  readonly final: bigint
  /** The last block in which a bundle of now may be mined. */
  readonly last: ComingBlock
  /** Seconds that an operation may be pooled. */
  readonly maxPoolAge: number
}

/**
 * Finds out in one statement what is to be done at a head, so that a head at which nothing is costs little. An answer may
 * be true although there is nothing to do, and what comes up meanwhile waits for the next head.
 */
export async function readDueWork(
  db: Database,
  chainId: number,
  { head, final, last, maxPoolAge }: Moment,
): Promise<DueWork> {
  const { rows } = await sql<
    Omit<DueWork, 'newestBlock'> & {
      readonly number: bigint | null
      readonly hash: ChainBlock['hash']
    }
  >`select block.number, block.hash,
      coalesce((select id from bundles where chain_id = ${chainId}
        order by id desc limit 1), 0) as "newestBundle",
      exists (select from bundles
        where chain_id = ${chainId} and state = 'signed') as "hasOpenBundles",
      ${mayBeIncluded(chainId)} or ${hasOpenReservations(chainId)} as "awaitsInclusion",
      ${endsReservations(chainId, { timestamp: head.timestamp, final })} as "endsReservations",
      ${expiresPooled(chainId, last, maxPoolAge)} as "expiresPooled",
      ${reputationsLag(chainId)} as "reputationsLag",
      ${owesSurplus(chainId, final)} as "owesSurplus"
    from (values (1)) as one left join lateral (select number, hash from chain_blocks
      where chain_id = ${chainId} order by number desc limit 1) as block on true`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the statement has one row')
  const { number, hash, ...due } = row
  return { ...due, newestBlock: number === null ? undefined : { number, hash } }
}
