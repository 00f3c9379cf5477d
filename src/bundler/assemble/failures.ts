import type { Address } from 'viem'
import { timeText } from '../../base/unixNow.js'
import { readNonce, readStake } from '../../chain/entryPointReads.js'
import type { BlockId, Head } from '../../chain/head.js'
import { readAtHead } from '../../chain/nodeReads.js'
import type { EntryPoint, Failure } from '../../erc4337/entryPoint.js'
import { type EntityRole, isStaked, type Party } from '../../erc4337/rules/index.js'
import { type Drop, dropOperations, type StoredOperation } from '../../mempool/pool/operations.js'
import { banEntity, countReputations, readEntityFacts } from '../../mempool/pool/reputations.js'
import { describeFailure, describeNonce } from '../../simulation/operationFailure.js'
import type { BundlingContext } from '../bundlingContext.js'
import { searchInclusion } from '../settle/readEvents.js'
import { settleFound } from '../settle/settleReceipts.js'
import type { Failed } from './simulateBundle.js'

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

/** Money that other operations have used up is no proof of bad will, whichever bundle they were in. */
const spentByOthers = new Set(['AA21', 'AA31'])
/** Codes that others in the same bundle can cause too: a validation needs more gas behind the memory that they hold. */
const spoiltByOthers = new Set([...spentByOthers, 'AA26', 'AA36', 'AA40', 'AA51', 'AA95'])

/**
 * GREP-040: bans the entity that is responsible for each of these failures of operations that passed their validation just
 * before: two that fail behind each other, or one on the chain. It loses all its operations at the next bundle.
 */
export async function banForFailures(
  context: BundlingContext,
  entryPoint: EntryPoint,
  failures: readonly Failed[],
  wasAlone = false,
): Promise<void> {
  const { database, definition, logger, rules } = context
  if (rules.mode === 'off') return
  const isNobodys = wasAlone ? spentByOthers : spoiltByOthers
  const parties: (Party | undefined)[] = []
  for (const { stored, failure } of failures) {
    const role = isNobodys.has(failure.code ?? '') ? undefined : roleOfFailure(failure.code)
    parties.push(role && (await findResponsible(context, entryPoint, stored, role)))
  }
  const [party] = parties
  if (party === undefined || parties.some((each) => each?.address !== party.address)) return
  await banEntity(database, definition.chainId, { ...party, entryPoint: entryPoint.address })
  const ops = failures.map(({ stored }) => stored.hash)
  logger.warn({ ops, ...party }, 'an entity is banned: it made a bundle fail')
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

/**
 * Whether an operation was admitted at a later block than `head`: another replica may have a node that is ahead. Its
 * failure at `head` proves nothing, except on a development chain, which may go back.
 */
export function isAhead(
  { definition }: Pick<BundlingContext, 'definition'>,
  head: Pick<Head, 'number'>,
  { seenBlock }: Pick<StoredOperation, 'seenBlock'>,
): boolean {
  return seenBlock > head.number && !definition.restarts
}

/** Milliseconds that an operation may wait for one with a lower nonce. */
const PREDECESSOR_GRACE = 60_000

/**
 * The drop, with its reason, of an operation that fails alone; undefined when it stays in the pool: it
 * was included by someone else, waits for a lower nonce, or is not due yet.
 */
export async function classifyFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { stored, failure }: { stored: StoredOperation; failure: Failure },
): Promise<Drop | undefined> {
  const { hash } = stored
  const code = failure.code ?? 'REVERTED'
  switch (failure.code) {
    case 'AA10':
    case 'AA25':
      return classifyNonceFailure(context, entryPoint, head, stored, failure)
    case 'AA22':
    case 'AA27':
    case 'AA32':
    case 'AA37': {
      const { validUntil, validUntilBlock } = stored
      const hasExpired =
        (validUntil > 0 && validUntil <= head.timestamp) ||
        (validUntilBlock > 0n && validUntilBlock <= head.number)
      return hasExpired
        ? { hash, code, reason: `${failure.message}: ${expiry(stored, head)}` }
        : undefined
    }
    case 'AA21':
    case 'AA31': {
      const { node } = context
      const { message } = await describeFailure(node, entryPoint, stored.operation, failure)
      return { hash, code, reason: message }
    }
    default:
      return { hash, code, reason: failure.message }
  }
}

/** AA10 and AA25 are also the codes with which an operation fails that is on the chain already. */
async function classifyNonceFailure(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { hash, operation, receivedAt }: StoredOperation,
  { code = 'AA25', message }: Failure,
): Promise<Drop | undefined> {
  const { sender, nonce } = operation
  const nonceAt = (block: BlockId) =>
    readNonce(context.node, entryPoint.address, sender, nonce, block)
  const [next, latest] = await Promise.all([readAtHead(head, nonceAt), nonceAt('latest')])
  // A block that the index has not reached has used the nonce, with this operation perhaps.
  if (next <= nonce && latest > nonce) return undefined
  // The account exists already, and this operation did not create it.
  if (code === 'AA10' && next <= nonce) return { hash, code, reason: message }
  if (next === nonce) return undefined
  if (next < nonce && Date.now() - receivedAt.getTime() < PREDECESSOR_GRACE) return undefined
  if (next > nonce) {
    const inclusion = await searchInclusion(context, hash, head.number)
    if (inclusion) {
      await settleFound(context, inclusion)
      return undefined
    }
  }
  const reason = `${message}: ${describeNonce(nonce, next)}`
  return { hash, code, reason, nonceUsed: next > nonce }
}

function expiry({ validUntil, validUntilBlock }: StoredOperation, head: Head): string {
  return validUntil > 0 && validUntil <= head.timestamp
    ? `valid until ${timeText(validUntil)}, block time ${timeText(head.timestamp)}`
    : `valid until block ${validUntilBlock}, block ${head.number}`
}

/** The entities of an operation, and whether a stake makes them answer for others. */
export type BundledEntities = {
  readonly sender: Address
  /** Undefined where the sender exists. */
  readonly factory: Address | undefined
  readonly paymaster: Address | undefined
  readonly accountStaked: boolean
  readonly factoryStaked: boolean
}

/**
 * The entity whose reputation suffers for a failure of `role`. A staked factory answers for the account
 * that it creates (EREP-020), a staked account for its paymaster (EREP-030). An unstaked account has no
 * reputation: undefined.
 */
export function responsibleEntity(role: EntityRole, entities: BundledEntities): Party | undefined {
  const { sender, factory, paymaster, accountStaked, factoryStaked } = entities
  const account = accountStaked ? ({ role: 'account', address: sender } as const) : undefined
  const creator = factory && ({ role: 'factory', address: factory } as const)
  switch (role) {
    case 'factory':
      return creator
    case 'account':
      return factoryStaked ? (creator ?? account) : account
    default:
      return account ?? (paymaster && { role: 'paymaster', address: paymaster })
  }
}

/** Failures that come with time, or by another operation: no entity is responsible. */
const circumstantialCodes = new Set(['AA10', 'AA25', 'AA22', 'AA27', 'AA32', 'AA37'])

/** The role that is responsible for a failure of the EntryPoint; undefined where none is. */
export function roleOfFailure(code: string | undefined): EntityRole | undefined {
  if (code === undefined) return 'account'
  if (circumstantialCodes.has(code)) return undefined
  if (/^AA1/.test(code)) return 'factory'
  return /^AA[35]/.test(code) ? 'paymaster' : 'account'
}
