import type { Hex } from 'viem'
import { createGroup } from '../base/createGroup.js'
import { faultPoint } from '../base/faults.js'
import { unixNow } from '../base/unixNow.js'
import { delegateToHash } from '../chain/delegations.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Fees } from '../entrypoint/fees.js'
import type { Operation } from '../entrypoint/operation.js'
import { PaymasterDepositError } from '../errors/operationErrors.js'
import { UnstakedEntityFullError } from '../errors/ruleErrors.js'
import { highestPrice } from '../gas/highestPrice.js'
import { findGrant } from '../store/ledger/grants.js'
import { isReserved } from '../store/ledger/reservations.js'
import { acceptedHashes } from '../store/pool/operations.js'
import { type RevertSubject, type Reverts, readReverts } from '../store/pool/reverts.js'
import { requireAuthorizationSigner, requireDelegation } from '../validation/authorization.js'
import { ruleSettings } from '../validation/ruleSettings.js'
import { checkReverts } from './checkReverts.js'
import { commitAdmissions } from './commitAdmissions.js'
import { createAnnouncer } from './createAnnouncer.js'
import { createTurnstile } from './createTurnstile.js'
import type { AdmissionDecision } from './decideAdmission.js'
import type { MempoolContext } from './mempoolContext.js'
import type { Admission } from './poolView.js'
import { requireLimits } from './requireLimits.js'
import { requireValid } from './requireValid.js'

export type AdmissionOptions = {
  /** The app whose key sent the operation. */
  readonly appId: string
  /** The key that sent it; absent where none did. */
  readonly keyId?: string | undefined
  /** Whether the call is run too, and an operation whose call reverts is refused. */
  readonly simulateExecution: boolean
}

export type Mempool = {
  /**
   * Takes an operation into the pool and returns its hash, once it is stored durably. Sending a
   * pending or included operation again returns the same hash and does nothing else.
   *
   * Throws a class of errors/operationErrors for every refusal, OverloadedError when too many
   * admissions are under way. preVerificationGas must pay for the operation's full share of a bundle
   * of the expected size: less is what we would lose on each operation, so there is no
   * discount. An operation without fees is taken only when we granted the app to pay for exactly that
   * one; it leaves the pool when the grant ends.
   */
  admit(entryPoint: EntryPoint, op: Operation, options: AdmissionOptions): Promise<Hex>
  /**
   * The hash of an operation that passes every check but those on the pool of the moment (limits, reputation,
   * replacement, deposits promised to others). Stores nothing. Throws as `admit` does.
   */
  check(entryPoint: EntryPoint, op: Operation, options: AdmissionOptions): Promise<Hex>
}

/** The most admissions under way on a chain; each holds its operation and its simulation in memory. */
const MAX_ADMISSIONS = 1_000

/** The most hashes that are looked up together. */
const MAX_LOOK_UPS = 256

/** The most admissions that share a transaction: with more it gets slower than it saves. */
const MAX_GROUP = 64

export function createMempool(context: MempoolContext): Mempool {
  const { definition, database, heads, logger } = context
  const { chainId } = definition
  const rules = ruleSettings(definition)
  const announce = createAnnouncer(database, chainId, logger)
  const commit = createGroup<Admission, AdmissionDecision>(
    (admissions) => commitAdmissions(database, chainId, admissions, definition),
    MAX_GROUP,
  )
  const isAccepted = createGroup<Hex, boolean>(async (hashes) => {
    const accepted = await acceptedHashes(database, chainId, hashes)
    return hashes.map((hash) => accepted.has(hash))
  }, MAX_LOOK_UPS)
  const revertsOf = createGroup<RevertSubject, Reverts>(
    (subjects) => readReverts(database, chainId, subjects),
    MAX_LOOK_UPS,
  )
  const turnstile = createTurnstile(MAX_ADMISSIONS)

  const findValid = async (
    entryPoint: EntryPoint,
    op: Operation,
    userOpHash: Hex,
    { appId, simulateExecution }: AdmissionOptions,
  ) => {
    requireLimits(entryPoint, op, definition)
    const subject = { sender: op.sender, entryPoint: entryPoint.address, appId }
    const revertError = checkReverts(op.sender, await revertsOf(subject))
    if (revertError) throw revertError
    const grant = isFree(op)
      ? await findGrant(database, { chainId, userOpHash, appId }, unixNow())
      : undefined
    const simulation = { simulateExecution, grant, userOpHash }
    const facts = await requireValid({ ...context, rules }, entryPoint, op, simulation)
    return { grant, facts }
  }

  const check: Mempool['check'] = async (entryPoint, op, options) => {
    const hash = await hashToAdmit(context, entryPoint, op)
    await findValid(entryPoint, op, hash, options)
    return hash
  }

  const admit: Mempool['admit'] = async (entryPoint, op, options) => {
    const { appId, keyId } = options
    const hash = await hashToAdmit(context, entryPoint, op)
    // Before the validation begins: a block that comes while it runs is one that it has not seen.
    const headHash = heads.current().hash
    const first = findValid(entryPoint, op, hash, options)
    // An operation that was accepted before need not be valid any more. Its validation is awaited all
    // the same: work behind an answer would not count among the admissions under way.
    const [isKnown] = await Promise.all([isAccepted(hash), first.catch(() => {})])
    if (isKnown) return hash

    const decide = async (validation: typeof first): Promise<AdmissionDecision> => {
      const { grant, facts } = await validation
      const { validUntil, record, ...poolFacts } = facts
      faultPoint('admission:simulated')
      const prefund = entryPoint.requiredPrefund(op)
      const entry = {
        chainId,
        hash,
        appId,
        keyId,
        prefund,
        assuredPrice: highestPrice(entryPoint, grant ? priced(op, grant) : op),
        ...record,
        entryPoint: entryPoint.address,
        operation: op,
        validUntil: grant ? earlierEnd(validUntil, grant.validUntil) : validUntil,
        ...(grant && { offer: grant }),
      }
      return commit({ entry, ...poolFacts })
    }
    let validation = first
    let decision = await decide(validation)
    if (dependsOnDeposits(decision) && (await heads.refresh()).hash !== headHash) {
      validation = findValid(entryPoint, op, hash, options)
      decision = await decide(validation)
    }
    if (lacksDeposit(decision) && (await isCovered(context, entryPoint, op)))
      decision = await decide(withoutDeposit(validation))
    faultPoint('admission:committed')
    if (decision.kind === 'refuse') throw decision.error
    if (decision.kind === 'insert') {
      announce()
      const { sender, nonce } = op
      const [replaces, evicts] = [decision.replaces?.hash, decision.evicts?.hash]
      logger.debug({ op: hash, appId, sender, nonce, replaces, evicts }, 'operation admitted')
    }
    return hash
  }
  return {
    admit: (entryPoint, op, options) => turnstile(() => admit(entryPoint, op, options)),
    check: (entryPoint, op, options) => turnstile(() => check(entryPoint, op, options)),
  }
}

/** The hash of an operation whose delegation fits. Throws where it does not. */
async function hashToAdmit(
  { node, definition }: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<Hex> {
  const { chainId } = definition
  requireDelegation(entryPoint.version, op, definition)
  requireAuthorizationSigner(op)
  return entryPoint.hash(op, chainId, await delegateToHash(node, op))
}

/** Whether a stake or a deposit in a block that was not read yet could have changed the decision. */
function dependsOnDeposits(decision: AdmissionDecision): boolean {
  return (
    decision.kind === 'refuse' &&
    (decision.error instanceof UnstakedEntityFullError ||
      decision.error instanceof PaymasterDepositError)
  )
}

function lacksDeposit(decision: AdmissionDecision): boolean {
  return decision.kind === 'refuse' && decision.error instanceof PaymasterDepositError
}

/**
 * Whether the deposit covers the operation although it seems not to: it is of a tank of ours, whose ledger has
 * reserved it. The pool still counts operations that a block has included and the index has not seen, which
 * the deposit has paid already; the ledger compares both at one block.
 */
async function isCovered(
  { database, definition: { chainId } }: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<boolean> {
  const { sender, nonce, paymaster } = op
  if (paymaster === undefined) return false
  const slot = { chainId, entryPoint: entryPoint.address, paymaster, sender, nonce }
  return isReserved(database, slot, entryPoint.requiredPrefund(op))
}

/** The validation of an operation whose paymaster's deposit needs no further look. */
async function withoutDeposit<Valid extends { readonly facts: { readonly deposit?: unknown } }>(
  validation: Promise<Valid>,
) {
  const valid = await validation
  return { ...valid, facts: { ...valid.facts, deposit: undefined } }
}

/** Whether an operation offers no fee and names no paymaster. */
function isFree({ maxFeePerGas, paymaster }: Operation): boolean {
  return maxFeePerGas === 0n && paymaster === undefined
}

/** The operation with the fees that are paid for it. */
function priced(op: Operation, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Operation {
  return { ...op, maxFeePerGas, maxPriorityFeePerGas }
}

/** The earlier of two ends in Unix seconds, of which the first may be 0 = no end. */
function earlierEnd(validUntil: number, end: number): number {
  return validUntil === 0 || validUntil > end ? end : validUntil
}
