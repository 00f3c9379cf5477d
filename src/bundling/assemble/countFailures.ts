import type { Address } from 'viem'
import { readStake } from '../../chain/entryPointReads.js'
import type { EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import { type Drop, dropOperations, type StoredOperation } from '../../store/pool/operations.js'
import { banEntity, countReputations, readEntityFacts } from '../../store/pool/reputations.js'
import { type EntityRole, isStaked, type Party } from '../../validation/erc7562/index.js'
import type { BundlingContext } from '../bundlingContext.js'
import { responsibleEntity, roleOfFailure } from './responsibleEntity.js'

/** A pooled operation that cannot be included any more. */
export type FailedOperation = {
  readonly stored: StoredOperation
  readonly drop: Drop
  /** The role whose code caused the failure; undefined where no entity did. */
  readonly responsible: EntityRole | undefined
}

/**
 * Drops operations that failed after they had been admitted. The opsSeen of their entities falls as if
 * they had never come, except that the responsible entity keeps its count (EREP-015, EREP-020,
 * EREP-030).
 */
export async function countFailures(
  context: BundlingContext,
  entryPoint: EntryPoint,
  failures: readonly FailedOperation[],
): Promise<void> {
  if (failures.length === 0) return
  const { database, definition, logger } = context
  const { chainId } = definition
  const parties: Party[] = []
  for (const { stored, responsible } of failures) {
    const party = responsible && (await findResponsible(context, entryPoint, stored, responsible))
    if (party) parties.push(party)
  }
  const drops = failures.map(({ drop }) => drop)
  await database.transaction().execute(async (trx) => {
    const unseen = await dropOperations(trx, chainId, drops)
    await countReputations(trx, chainId, {
      unseen,
      blamed: parties.map(({ address }) => ({ entryPoint: entryPoint.address, address })),
    })
  })
  for (const { hash: op, code, reason } of drops)
    logger.warn({ op, code, reason }, 'operation dropped')
}

/**
 * GREP-040: bans the entity that is responsible for a failure of an operation that passed its validation
 * just before: beside others, or on the chain.
 */
export async function banForFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  stored: StoredOperation,
  { code }: Pick<Failure, 'code'>,
): Promise<void> {
  if (context.rules.mode === 'off') return
  // Money that other operations have used up is no proof of bad will.
  if (code === 'AA21' || code === 'AA31') return
  const responsible = roleOfFailure(code)
  if (responsible) await banResponsibleEntity(context, entryPoint, stored, responsible)
}

/** It loses all its operations at the next bundle. */
async function banResponsibleEntity(
  context: BundlingContext,
  entryPoint: EntryPoint,
  stored: StoredOperation,
  responsible: EntityRole,
): Promise<void> {
  const { database, definition, logger } = context
  const party = await findResponsible(context, entryPoint, stored, responsible)
  if (party === undefined) return
  await banEntity(database, definition.chainId, { ...party, entryPoint: entryPoint.address })
  logger.warn({ op: stored.hash, ...party }, 'an entity is banned: it made a bundle fail')
}

/** The entity that answers for the role; undefined where none does, or the operator trusts it. */
async function findResponsible(
  { node, database, definition, rules }: BundlingContext,
  { address: entryPoint }: EntryPoint,
  { operation, factory }: StoredOperation,
  role: EntityRole,
): Promise<Party | undefined> {
  const { sender, paymaster } = operation
  const hasStake = async (address: Address) =>
    isStaked(await readStake(node, entryPoint, address), rules.stakePolicy)
  const party = responsibleEntity(role, {
    sender,
    factory,
    paymaster,
    accountStaked: await hasStake(sender),
    factoryStaked: factory !== undefined && (await hasStake(factory)),
  })
  if (party === undefined) return undefined
  const entity = { entryPoint, address: party.address }
  const [facts] = await readEntityFacts(database, definition.chainId, [entity])
  return facts?.trusted ? undefined : party
}
