import type { Address } from 'viem'
import { readStake } from '../chain/entryPointReads.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { EntryPoint, StakeInfo } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { highestPrice } from '../gas/highestPrice.js'
import { type ReputationStatus, statusOf } from '../mempool/reputation.js'
import { clearPool, poolOf } from '../store/pool/operations.js'
import { putUnchecked } from '../store/pool/putOperations.js'
import { clearReputations, readReputations, setReputations } from '../store/pool/reputations.js'
import { isStaked } from '../validation/erc7562/index.js'
import type { BundlingContext } from './bundlingContext.js'
import type { Bundler } from './startBundler.js'

export type EntityReputation = {
  readonly address: Address
  readonly opsSeen: number
  readonly opsIncluded: number
}

/** The methods with which tests steer a bundler from outside (`debug_bundler_*` of ERC-7769). */
export type DebugBundler = {
  /** Drops every pooled operation; those in a signed bundle stay. */
  clearMempool(): Promise<void>
  clearReputation(): Promise<void>
  /** Pooled operations, the oldest first. */
  dumpMempool(entryPoint: EntryPoint): Promise<readonly Operation[]>
  /** Takes operations into the pool without any check. */
  addOperations(entryPoint: EntryPoint, ops: readonly Operation[], appId: string): Promise<void>
  /** Sends one bundle and resolves when it is mined, or at once when there is nothing to send. */
  sendBundleNow(): Promise<void>
  /** Resolves when no round of the mode before is under way. */
  setBundlingMode(mode: 'manual' | 'auto'): Promise<void>
  setReputation(entryPoint: EntryPoint, entities: readonly EntityReputation[]): Promise<void>
  dumpReputation(
    entryPoint: EntryPoint,
  ): Promise<readonly (EntityReputation & { readonly status: ReputationStatus })[]>
  stakeStatus(entryPoint: EntryPoint, address: Address): Promise<StakeStatus>
}

export type StakeStatus = StakeInfo & { readonly address: Address; readonly isStaked: boolean }

type Context = Pick<BundlingContext, 'definition' | 'database' | 'node' | 'rules'> & {
  readonly heads: Pick<HeadFollower, 'current'>
}

export function createDebugBundler(
  { definition, database, node, rules, heads }: Context,
  bundler: Pick<Bundler, 'sendNow' | 'setMode'>,
): DebugBundler {
  const { chainId } = definition
  return {
    clearMempool: () => clearPool(database, chainId),
    clearReputation: () => clearReputations(database, chainId),
    dumpMempool: async ({ address }) =>
      (await poolOf(database, chainId, address)).map(({ operation }) => operation),
    async addOperations(entryPoint, ops, appId) {
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
    sendBundleNow: bundler.sendNow,
    setBundlingMode: bundler.setMode,
    setReputation: ({ address }, entities) => setReputations(database, chainId, address, entities),
    dumpReputation: async ({ address }) =>
      (await readReputations(database, chainId, address)).map(({ pending, ...reputation }) => ({
        ...reputation,
        status: statusOf(reputation, pending),
      })),
    async stakeStatus({ address: entryPoint }, address) {
      const stake = await readStake(node, entryPoint, address)
      return { ...stake, address, isStaked: isStaked(stake, rules.stakePolicy) }
    },
  }
}
