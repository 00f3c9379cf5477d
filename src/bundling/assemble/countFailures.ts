import type { Address } from 'viem'
import { readStake } from '../../chain/entryPointReads.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { type Drop, dropOperations, type StoredOperation } from '../../store/pool/operations.js'
import { banEntity, countReputations, readEntityFacts } from '../../store/pool/reputations.js'
import { type EntityRole, isStaked, type Party } from '../../validation/erc7562/index.js'
import type { BundlingContext } from '../bundlingContext.js'
import { responsibleEntity } from './responsibleEntity.js'

export type Dropped = {
  readonly stored: StoredOperation
  readonly drop: Drop
  /** Whose doing it is; undefined = nobody's. */
  readonly culprit: EntityRole | undefined
}

/**
 * Drops operations that failed their second validation. Their entities count as if they had never
 * been seen, but the one to blame as seen once (EREP-015, EREP-020, EREP-030).
 */
export async function dropFailed(
  context: BundlingContext,
  entryPoint: EntryPoint,
  dropped: readonly Dropped[],
): Promise<void> {
  if (dropped.length === 0) return
  const { database, definition, logger } = context
  const { chainId } = definition
  const blamed: Party[] = []
  for (const { stored, culprit } of dropped) {
    const party = culprit && (await countAgainst(context, entryPoint, stored, culprit))
    if (party) blamed.push(party)
  }
  const drops = dropped.map(({ drop }) => drop)
  await database.transaction().execute(async (trx) => {
    const unseen = await dropOperations(trx, chainId, drops)
    const at = { entryPoint: entryPoint.address }
    await countReputations(trx, chainId, {
      unseen,
      blamed: blamed.map(({ address }) => ({ ...at, address })),
    })
  })
  for (const drop of drops) logger.warn(drop, 'operation dropped')
}

/**
 * GREP-040: an operation that is valid by itself made the bundle fail. Its culprit is banned and loses
 * all its operations at the next bundle.
 */
export async function banEntityOf(
  context: BundlingContext,
  entryPoint: EntryPoint,
  stored: StoredOperation,
  culprit: EntityRole,
): Promise<void> {
  const { database, definition, logger } = context
  const party = await countAgainst(context, entryPoint, stored, culprit)
  if (party === undefined) return
  await banEntity(database, definition.chainId, { ...party, entryPoint: entryPoint.address })
  logger.warn({ hash: stored.hash, ...party }, 'an entity is banned: it made a bundle fail')
}

async function countAgainst(
  { node, database, definition, rules }: BundlingContext,
  { address: entryPoint }: EntryPoint,
  { operation, factory }: StoredOperation,
  culprit: EntityRole,
): Promise<Party | undefined> {
  const { sender, paymaster } = operation
  const staked = async (address: Address) =>
    isStaked(await readStake(node, entryPoint, address), rules.stakePolicy)
  const suspects = { sender, factory, paymaster }
  const party = responsibleEntity(culprit, {
    ...suspects,
    accountStaked: await staked(sender),
    factoryStaked: factory !== undefined && (await staked(factory)),
  })
  if (party === undefined) return undefined
  const named = { entryPoint, address: party.address }
  const [facts] = await readEntityFacts(database, definition.chainId, [named])
  return facts?.trusted ? undefined : party
}
