import { setImmediate } from 'node:timers/promises'
import type { Hex } from 'viem'
import { createBatcher } from '../base/createBatcher.js'
import { PaymasterDepositError } from '../base/errors/operationErrors.js'
import { PurserError } from '../base/errors/purserError.js'
import { OverloadedError } from '../base/errors/requestErrors.js'
import { UnstakedEntityFullError } from '../base/errors/ruleErrors.js'
import { faultPoint } from '../base/faults.js'
import type { Requester } from '../base/requester.js'
import { unixNow } from '../base/unixNow.js'
import { delegateToHash } from '../chain/delegations.js'
import { readAttribution } from '../erc4337/attribution.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Fees } from '../erc4337/fees.js'
import type { Operation } from '../erc4337/operation.js'
import { highestPrice } from '../gas/highestPrice.js'
import { findGrant, type Grant } from '../paymaster/ledger/grants.js'
import { isReserved } from '../paymaster/ledger/reservations.js'
import { requireAuthorizationSigner, requireDelegation } from '../simulation/authorization.js'
import { ruleSettings } from '../simulation/checkRules.js'
import type { ValidationResult } from '../simulation/engine.js'
import { commitAdmissions } from './commitAdmissions.js'
import type { AdmissionDecision } from './decideAdmission.js'
import type { MempoolContext } from './mempoolContext.js'
import { acceptedHashes, announceOperations } from './pool/operations.js'
import { type RevertSubject, refusalsByReverts } from './pool/reverts.js'
import type { Admission } from './poolView.js'
import { requireLimits } from './requireLimits.js'
import { requireValid, type ValidOperation } from './requireValid.js'
import type { WitnessSubject } from './witnesses.js'

type AdmissionOptions = {
  /** The app whose key sent the operation. */
  readonly appId: string
  /** The key that sent it; absent where none did. */
  readonly keyId?: string | undefined
  /** The party for which it is run; undefined = the service itself. */
  readonly requester: Requester | undefined
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

/** An operation that only the pool of the moment can refuse. */
type Admissible = {
  /** The fees that we pay for it; undefined where it pays itself. */
  readonly grant: Grant | undefined
  readonly facts: ValidOperation
}

/** The most admissions under way on a chain; each holds its operation and its simulation in memory. */
const MAX_ADMISSIONS = 1_000

/** The most hashes that are looked up together. */
const MAX_LOOK_UPS = 256

/** The most admissions that share a transaction: with more it gets slower than it saves. */
const MAX_GROUP = 64

export function createMempool(context: MempoolContext): Mempool {
  const { definition, database, heads, logger, metrics } = context
  const { chainId } = definition
  const announce = createAnnouncer(context)
  const commit = createBatcher<Admission, AdmissionDecision>(
    (admissions) => commitAdmissions(database, chainId, admissions, definition),
    MAX_GROUP,
  )
  const isAccepted = createBatcher<Hex, boolean>(async (hashes) => {
    const accepted = await acceptedHashes(database, chainId, hashes)
    return hashes.map((hash) => accepted.has(hash))
  }, MAX_LOOK_UPS)
  const pausedBy = createBatcher<RevertSubject, PurserError | undefined>(
    (subjects) => refusalsByReverts(database, chainId, subjects),
    MAX_LOOK_UPS,
  )
  const findValid = createValidation(context)
  const semaphore = createSemaphore(MAX_ADMISSIONS)

  const check: Mempool['check'] = async (entryPoint, op, options) => {
    const hash = await hashToAdmit(context, entryPoint, op)
    await findValid(entryPoint, op, hash, options)
    const paused = await pausedBy({ op, entryPoint: entryPoint.address, appId: options.appId })
    if (paused) throw paused
    return hash
  }

  const admit: Mempool['admit'] = async (entryPoint, op, options) => {
    const { appId, keyId } = options
    const hash = await hashToAdmit(context, entryPoint, op)
    // Before the validation begins: a block that comes while it runs is one that it has not seen.
    const headHash = heads.current().hash
    let valid: Admissible
    const runs: ValidationResult[] = []
    try {
      valid = await findValid(entryPoint, op, hash, options, (run) => runs.push(run))
    } catch (error) {
      // An operation that was accepted before need not be valid any more.
      if (await isAccepted(hash)) return hash
      // What its parties did before outranks what is wrong with it, and says how long to wait.
      const refusal = (await pausedBy({ op, entryPoint: entryPoint.address, appId })) ?? error
      keepRun(context, { hash, appId }, runs.at(-1), refusal)
      throw refusal
    }

    const decide = ({ grant, facts }: Admissible): Promise<AdmissionDecision> => {
      const { validUntil, record, ...poolFacts } = facts
      faultPoint('admission:simulated')
      const entry = {
        chainId,
        hash,
        appId,
        keyId,
        prefund: entryPoint.requiredPrefund(op),
        assuredPrice: highestPrice(entryPoint, grant ? priced(op, grant) : op),
        ...record,
        entryPoint: entryPoint.address,
        operation: op,
        validUntil: grant ? earlierEnd(validUntil, grant.validUntil) : validUntil,
        ...(grant && { bid: grant }),
      }
      return commit({ entry, ...poolFacts })
    }
    let decision = await decide(valid)
    if (dependsOnDeposits(decision) && (await heads.refresh()).hash !== headHash) {
      valid = await findValid(entryPoint, op, hash, options)
      decision = await decide(valid)
    }
    if (lacksDeposit(decision) && (await isCovered(context, entryPoint, op)))
      decision = await decide({ ...valid, facts: { ...valid.facts, deposit: undefined } })
    faultPoint('admission:committed')
    if (decision.kind === 'refuse') throw decision.error
    if (decision.kind === 'insert') {
      announce()
      const { sender, nonce } = op
      countAttribution(metrics, op)
      const [replaces, evicts] = [decision.replaces?.hash, decision.evicts?.hash]
      logger.debug({ op: hash, appId, sender, nonce, replaces, evicts }, 'operation admitted')
    }
    return hash
  }
  return {
    admit: (entryPoint, op, options) => semaphore(() => admit(entryPoint, op, options)),
    check: (entryPoint, op, options) => semaphore(() => check(entryPoint, op, options)),
  }
}

/** The checks of an operation that do not concern the pool of the moment; they throw its refusal. */
function createValidation(context: MempoolContext) {
  const { database, definition } = context
  const { chainId } = definition
  const rules = ruleSettings(definition)

  return async (
    entryPoint: EntryPoint,
    op: Operation,
    userOpHash: Hex,
    { appId, requester, simulateExecution }: AdmissionOptions,
    onRun: (run: ValidationResult) => unknown = () => {},
  ): Promise<Admissible> => {
    requireLimits(entryPoint, op, definition)
    const grant = isFree(op)
      ? await findGrant(database, { chainId, userOpHash, appId }, unixNow())
      : undefined
    const simulation = { requester, simulateExecution, grant, userOpHash, appId, onRun }
    return { grant, facts: await requireValid({ ...context, rules }, entryPoint, op, simulation) }
  }
}

/** Counts the attribution of an operation that has one (ERC-8021). */
function countAttribution(metrics: MempoolContext['metrics'], { callData }: Operation): void {
  const attributed = readAttribution(callData)
  if (attributed === undefined) return
  const { schema } = attributed.attribution
  metrics.count('purser_operations_attributed_total', { schema })
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

/** Whether an operation bids no fee and names no paymaster. */
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

/** A function that does a piece of work unless too many are under way. */
type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * A semaphore that lets at most `capacity` pieces of work be under way at once and refuses more with
 * OverloadedError, before any work for them: a queue that only grows helps no client, and takes memory.
 */
export function createSemaphore(capacity: number): Semaphore {
  let inside = 0
  return async (work) => {
    if (inside >= capacity) throw new OverloadedError(inside)
    inside += 1
    try {
      return await work()
    } finally {
      inside -= 1
    }
  }
}

/**
 * A function that wakes the bundler of a chain because operations wait: that of this process where it bundles, else all
 * others, by a message. It is called after the commit: a NOTIFY inside each transaction makes PostgreSQL commit them one
 * after the other, which cuts the admissions a second to a fifth. Admissions that come while a message is under
 * way share the next one. After a lost message the bundler's timer finds the operation.
 */
function createAnnouncer({
  database,
  definition: { chainId },
  logger,
  wakeBundler = () => false,
}: MempoolContext): () => void {
  let requested = false
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (requested) {
      // Admissions of one commit hear of it one after the other.
      await setImmediate()
      requested = false
      try {
        if (!wakeBundler()) await announceOperations(database, chainId)
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'operations not announced')
      }
    }
    running = false
  }

  return () => {
    requested = true
    if (!running) void run()
  }
}

/** Keeps the run by which an operation is refused, if it ran. */
function keepRun(
  { witnesses }: MempoolContext,
  subject: WitnessSubject,
  run: ValidationResult | undefined,
  error: unknown,
): void {
  if (run?.witness && error instanceof PurserError) witnesses.record(subject, run.witness)
}
