import { sql } from 'kysely'
import type { Address } from 'viem'
import { readStake } from '../chain/entryPointReads.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { isStaked } from '../erc4337/rules/index.js'
import { highestPrice } from '../gas/highestPrice.js'
import { isLive, type StoredOperation, toStored } from '../mempool/pool/operations.js'
import { putUnchecked } from '../mempool/pool/putOperations.js'
import { clearReputations, readReputations, setReputations } from '../mempool/pool/reputations.js'
import { statusOf } from '../mempool/reputation.js'
import type { BundlingContext } from './bundlingContext.js'
import type { Bundler } from './startBundler.js'

export type EntityReputation = {
  readonly address: Address
  readonly opsSeen: number
  readonly opsIncluded: number
}

/** The methods with which tests steer a bundler from outside (`debug_bundler_*` of ERC-7769). */
export type DebugBundler = ReturnType<typeof createDebugBundler>

type Context = Pick<BundlingContext, 'definition' | 'database' | 'node' | 'rules'> & {
  readonly heads: Pick<HeadFollower, 'current'>
}

export function createDebugBundler(
  { definition, database, node, rules, heads }: Context,
  bundler: Pick<Bundler, 'sendNow' | 'setMode'>,
) {
  const { chainId } = definition
  return {
    /** Drops every pooled operation; those in a signed bundle stay. */
    clearMempool: () => clearPool(database, chainId),
    clearReputation: () => clearReputations(database, chainId),
    /** Pooled operations, the oldest first. */
    dumpMempool: async ({ address }: EntryPoint): Promise<readonly Operation[]> =>
      (await poolOf(database, chainId, address)).map(({ operation }) => operation),
    /** Takes operations into the pool without any check. */
    async addOperations(entryPoint: EntryPoint, ops: readonly Operation[], appId: string) {
      const seenBlock = heads.current().number
      const operations = ops.map((operation) => ({
        appId,
        operation,
        seenBlock,
        entryPoint: entryPoint.address,
        hash: entryPoint.hash(operation, chainId),
        prefund: entryPoint.requiredPrefund(operation),
        assuredPrice: highestPrice(entryPoint, operation),
      }))
      await putUnchecked(database, chainId, operations)
    },
    /** Sends one bundle and resolves when it is mined, or at once when there is nothing to send. */
    sendBundleNow: bundler.sendNow,
    /** Resolves when no cycle of the mode before is under way. */
    setBundlingMode: bundler.setMode,
    setReputation: ({ address }: EntryPoint, entities: readonly EntityReputation[]) =>
      setReputations(database, chainId, address, entities),
    dumpReputation: async ({ address }: EntryPoint) =>
      (await readReputations(database, chainId, address)).map(({ pending, ...reputation }) => ({
        ...reputation,
        status: statusOf(reputation, pending),
      })),
    async stakeStatus({ address: entryPoint }: EntryPoint, address: Address) {
      const stake = await readStake(node, entryPoint, address)
      return { ...stake, address, isStaked: isStaked(stake, rules.stakePolicy) }
    },
  }
}

/** All pooled operations of an EntryPoint, the oldest first. */
async function poolOf(
  db: Database,
  chainId: number,
  entryPoint: Address,
): Promise<StoredOperation[]> {
  const rows = await db
    .selectFrom('live_operations as l')
    .innerJoin('operations as o', (join) => join.on(isLive))
    .selectAll('o')
    .where('l.chain_id', '=', BigInt(chainId))
    .where('l.entry_point', '=', entryPoint)
    .where(sql<boolean>`l.state = 'pooled'`)
    .orderBy('l.received_at')
    .execute()
  return rows.map(toStored)
}

/** Drops all pooled operations of a chain, for tests of a bundler from outside. */
async function clearPool(db: Database, chainId: number): Promise<void> {
  await db
    .updateTable('operations as o')
    .from('live_operations as l')
    .set({ state: 'dropped', reason_code: 'CLEARED', reason: 'the pool was cleared' })
    .where('l.chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`${isLive} and o.state = 'pooled'`)
    .execute()
}
