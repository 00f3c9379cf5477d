import type { Address, Hex } from 'viem'
import { greatest } from '../../base/bigints.js'
import {
  CannotSimulateError,
  SimulationLostError,
  TooCostlyError,
  TraceRefusedError,
} from '../../base/errors/simulationErrors.js'
import { Lru } from '../../base/lru.js'
import { type Pause, pauseAfter, unpaused } from '../../base/pauseAfter.js'
import { timeText, unixNow } from '../../base/unixNow.js'
import { bundlingHorizon } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getBlock } from '../../chain/nodeReads.js'
import { highestBaseFee } from '../../erc4337/charges.js'
import type { EntryPoint, Failure } from '../../erc4337/entryPoint.js'
import {
  type AccessedStorage,
  changedCode,
  changedContext,
  MAX_BUNDLE_CONTEXTS,
  type EntityRole,
  gasOfStaked,
  type SlotSets,
  type Stakes,
  type Verdict,
  type Violation,
} from '../../erc4337/rules/index.js'
import { endsBefore, type Validity } from '../../erc4337/validationData.js'
import type { Drop, StoredOperation } from '../../mempool/pool/operations.js'
import { type TokenTankUse, tokenTankUse, withStakedTank } from '../../mempool/tokenTankUse.js'
import { checkRules, type RuleCheck } from '../../simulation/checkRules.js'
import type { Validation, ValidationResult } from '../../simulation/engine.js'
import type { KnownValidation } from '../../simulation/knownValidations.js'
import { signatureFailure } from '../../simulation/operationFailure.js'
import type { BundlingContext } from '../bundlingContext.js'
import { classifyFailure, isAhead, roleOfFailure } from './failures.js'

/** The result of the second validation of an operation, on the state of the head. */
type SecondValidation =
  | {
      readonly kind: 'valid'
      readonly stored: StoredOperation
      /** Undefined where rules are off or only partly checked. */
      readonly accessed: AccessedStorage | undefined
    }
  /** The operation stays in the pool, and out of this bundle. */
  | { readonly kind: 'wait'; readonly stored: StoredOperation }
  | {
      readonly kind: 'drop'
      readonly stored: StoredOperation
      readonly drop: Drop
      /** The role whose code caused the failure; undefined where no entity did. */
      readonly responsible: EntityRole | undefined
    }

/**
 * Validates a pooled operation once more before it goes into a bundle: the EntryPoint must still
 * accept it, all rules must hold again, and neither the code that it uses (COD-010) nor the length of
 * its context (EREP-055) may have changed since it was taken in. None of this is done for a `recalled` validation, which
 * passed before on the same state. An operation that a token tank of ours charges only afterwards is run whole. Node trouble is thrown,
 * unless the node answers everything else.
 */
export async function validateAgain(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  stored: StoredOperation,
  recalled: KnownValidation | undefined,
): Promise<SecondValidation> {
  const { hash, appId } = stored
  if ((unanswered.get(hash)?.until ?? 0) > performance.now()) return { kind: 'wait', stored }
  const runs: ValidationResult[] = []
  const onRun = (run: ValidationResult) => runs.push(run)
  const subject = { stored, recalled, onRun }
  const result = await decide(context, entryPoint, head, subject).catch((error: unknown) =>
    waitUnanswered(context, stored, error),
  )
  if (result.kind === 'drop' && isAhead(context, head, stored)) return { kind: 'wait', stored }
  const { witness } = runs.at(-1) ?? {}
  if (result.kind === 'drop' && witness) context.witnesses?.record({ hash, appId }, witness)
  return result
}

/** The pauses of operations about which the node gave no answer; as many are remembered. */
const unanswered = new Lru<Hex, Pause>(10_000)

/**
 * An operation waits about which the node gives no answer, as where its trace is too large: it would stop all others, as
 * often as it is tried. Throws where the node answers nothing else either.
 */
async function waitUnanswered(
  { node, problems }: BundlingContext,
  stored: StoredOperation,
  error: unknown,
): Promise<SecondValidation> {
  if (!(error instanceof NodeUnavailableError || error instanceof TraceRefusedError)) throw error
  await getBlock(node, 'latest')
  const { hash } = stored
  const { message: reason } = error
  const before = unanswered.get(hash) ?? unpaused
  unanswered.set(hash, pauseAfter(before, performance.now(), Math.random()))
  problems.warn(hash, NOT_VALIDATED, { op: hash, reason })
  return { kind: 'wait', stored }
}

const NOT_VALIDATED = 'an operation waits: it cannot be validated again'

type Subject = {
  readonly stored: StoredOperation
  readonly recalled: KnownValidation | undefined
  /** Hears of a run that was made. */
  readonly onRun: (run: ValidationResult) => unknown
}

async function decide(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  { stored, recalled, onRun }: Subject,
): Promise<SecondValidation> {
  const { engine, rules, problems, database, definition } = context
  const { hash, operation } = stored
  const tank = await tokenTankUse(database, definition.chainId, entryPoint, operation)
  if (rules.mode === 'off' && tank === undefined)
    return { kind: 'valid', stored, accessed: undefined }
  try {
    const validated =
      (tank ? undefined : recalled) ?? (await run(context, entryPoint, stored, onRun))
    if ('failure' in validated)
      return await failed(context, entryPoint, head, stored, validated.failure)
    const { validation } = validated
    const { validAfter, validUntil, blocks } = validation
    if (validAfter > head.timestamp || blocks.after > head.number)
      return notDue(stored, head, validation)
    const last = await bundlingHorizon(context.node, head, definition)
    if (endsBefore(validation, last)) {
      const isLate = validUntil !== 0 && validUntil < last.timestamp
      const ends = isLate
        ? `valid until ${timeText(validUntil)}, a bundle must be valid until ${timeText(last.timestamp)}`
        : `valid until block ${blocks.until}, a bundle must be valid until block ${last.number}`
      const reason = `ends too soon to be bundled: ${ends}`
      return {
        kind: 'drop',
        stored,
        drop: { hash, code: 'EXPIRED', reason },
        responsible: undefined,
      }
    }
    const judged =
      'stakes' in validated ? validated : judge(context, entryPoint, stored, tank, validated)
    if ('violation' in judged) return violated(stored, judged.violation)
    const { verdict, stakes } = judged
    if (verdict === undefined && rules.mode === 'full') {
      problems.warn(hash, 'an operation waits: only partial rules can be applied', { op: hash })
      return { kind: 'wait', stored }
    }
    if (tank?.chargesAfterwards === true) {
      const run = await engine.execute(entryPoint, operation)
      if (!run.ok) return await failed(context, entryPoint, head, stored, run.failure)
      if (!run.success)
        return { kind: 'drop', stored, drop: chargeFails(hash), responsible: undefined }
    }
    const mostCharged = entryPoint.mostCharged(operation, validation)
    const coveredTo = highestBaseFee(entryPoint, operation, mostCharged)
    if (coveredTo !== undefined && coveredTo < head.baseFee) return uncovered(stored, coveredTo)
    // A tank of ours answers to nobody for the gas that it uses.
    const watched = verdict?.entities.filter(({ role }) => !(tank && role === 'paymaster')) ?? []
    context.gasWatch?.note(hash, gasOfStaked(watched, stakes, rules.stakePolicy))
    const isWaived = 'waived' in judged && judged.waived.length > 0
    if (!('stakes' in validated || tank || isWaived))
      engine.remember(entryPoint, operation, validated.validation, verdict)
    return { kind: 'valid', stored: { ...stored, mostCharged }, accessed: verdict?.accessed }
  } catch (error) {
    const isLost = error instanceof SimulationLostError
    if (!isLost && !(error instanceof CannotSimulateError)) throw error
    if (error instanceof TooCostlyError) {
      const drop = { hash, code: 'TOO_COSTLY', reason: error.message } as const
      return { kind: 'drop', stored, drop, responsible: undefined }
    }
    const facts = { op: hash, reason: error.message }
    problems.warn(hash, NOT_VALIDATED, facts)
    return { kind: 'wait', stored }
  }
}

/** Seconds by which the clock of the process that admitted an operation may be ahead. */
const MOST_AHEAD = 60

/**
 * An operation that was due when it was admitted may wait for the head to get there. One that is due later has
 * changed: it would be validated at each head, before those that pay less.
 */
function notDue(
  stored: StoredOperation,
  head: Head,
  { validAfter, blocks }: Validity,
): SecondValidation {
  const { hash, operation, seenBlock } = stored
  const isLater = validAfter > Math.max(head.timestamp, unixNow()) + MOST_AHEAD
  if (!isLater && blocks.after <= greatest(head.number, seenBlock)) return { kind: 'wait', stored }
  const [code, start] = isLater
    ? ([operation.paymaster ? 'AA32' : 'AA22', timeText(validAfter)] as const)
    : ([operation.paymaster ? 'AA37' : 'AA27', `block ${blocks.after}`] as const)
  const reason = `${code} not due any more: valid after ${start}, and it was due when it was sent`
  return { kind: 'drop', stored, drop: { hash, code, reason }, responsible: undefined }
}

/** The validation of a run in which the EntryPoint accepts the operation, else its failure. */
async function run(
  { engine, definition: { chainId } }: BundlingContext,
  entryPoint: EntryPoint,
  { hash, operation }: StoredOperation,
  onRun: Subject['onRun'],
): Promise<{ readonly validation: Validation } | { readonly failure: Failure }> {
  const validated = await engine.validate(entryPoint, operation)
  onRun(validated)
  const failure = validated.ok
    ? signatureFailure(validated.validation, { entryPoint, chainId, hash })
    : validated.failure
  return validated.ok && !failure ? validated : { failure: failure as Failure }
}

/** What the rules find in a run, or the first of them that is broken. */
function judge(
  { rules }: BundlingContext,
  entryPoint: EntryPoint,
  stored: StoredOperation,
  tank: TokenTankUse | undefined,
  { validation }: { readonly validation: Validation },
):
  | (Pick<RuleCheck, 'verdict' | 'waived'> & { readonly stakes: Stakes })
  | { readonly violation: Violation } {
  const observed = withStakedTank(validation.observed, tank, rules.stakePolicy)
  const { violations, waived, verdict } = checkRules(entryPoint, stored.operation, observed, rules)
  const [violation] = [...violations, ...changesSince(stored, validation, verdict)]
  return violation ? { violation } : { verdict, waived, stakes: observed.stakes }
}

/** The drop of an operation that reverts now, or leaves its tank without the tokens: the tank would pay. */
function chargeFails(hash: Hex): Drop {
  return {
    hash,
    code: 'CHARGE_FAILS',
    reason:
      'the operation fails now, or leaves no tokens for its gas: keep tokens and approval in place and ask for a new quote',
  }
}

/** An operation whose prefund does not cover its charge waits for a lower base fee, if any will do. */
function uncovered(stored: StoredOperation, coveredTo: bigint): SecondValidation {
  if (coveredTo >= 0n) return { kind: 'wait', stored }
  const reason =
    'AA51 prefund below actualGasCost: its validation uses more gas now, and its call could make a bundle revert'
  const drop = { hash: stored.hash, code: 'AA51', reason } as const
  return { kind: 'drop', stored, drop, responsible: undefined }
}

async function failed(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  stored: StoredOperation,
  failure: Failure,
): Promise<SecondValidation> {
  const drop = await classifyFailure(context, entryPoint, head, { stored, failure })
  if (drop === undefined) return { kind: 'wait', stored }
  return { kind: 'drop', stored, drop, responsible: roleOfFailure(failure.code) }
}

/** Violations by code and context that are not those of the first validation. */
function changesSince(
  { operation, firstValidation: first }: StoredOperation,
  { observed, contextSize }: Validation,
  verdict: Verdict | undefined,
): Violation[] {
  if (first === undefined) return []
  const paymaster = operation.paymaster && {
    role: 'paymaster' as const,
    address: operation.paymaster,
  }
  const contexts = paymaster ? changedContext(paymaster, first.contextSize, contextSize) : []
  if (verdict === undefined || observed.kind !== 'record') return contexts
  const firstHashes = new Map(Object.entries(first.codeHashes)) as Map<Address, Hex>
  const visitedTwice = [...verdict.visitedCode].filter(([address]) => firstHashes.has(address))
  const violations = changedCode(new Map(visitedTwice), firstHashes, observed.codeHashes)
  return [...violations, ...contexts]
}

function violated(stored: StoredOperation, { rule, entity, message }: Violation): SecondValidation {
  const drop = { hash: stored.hash, code: rule, reason: message }
  return { kind: 'drop', stored, drop, responsible: entity }
}

type ConflictCandidate = {
  readonly operation: { readonly sender: Address }
  /** Undefined where the storage is not known; such an operation conflicts with none. */
  readonly accessed: AccessedStorage | undefined
  /** Bytes of its paymaster's context. */
  readonly contextSize?: number | undefined
}

/**
 * The candidates, in their order, that may share a bundle: none uses storage of another one's sender
 * (STO-041, ERC-4337), none uses a slot that another one writes, and their contexts fit (LIM-050). The rest can go in
 * the next bundle.
 */
export function withoutConflicts<C extends ConflictCandidate>(candidates: readonly C[]): C[] {
  const senders = new Set(candidates.map(({ operation }) => operation.sender))
  const separate = candidates.filter((candidate) => !usesSenders(candidate, senders))
  const [first] = candidates
  // Where every operation uses storage of another sender, the best one goes alone.
  if (separate.length === 0) return first ? [first] : []
  const touched = new SlotSet()
  const written = new SlotSet()
  let contexts = 0
  return separate.filter(({ accessed, contextSize = 0 }, place) => {
    // The first goes whatever its size: without rules no context is too large, and one that never goes would stop all.
    if (place > 0 && contexts + contextSize > MAX_BUNDLE_CONTEXTS) return false
    if (accessed !== undefined) {
      const { reads, writes } = accessed
      if (touched.overlaps(writes) || written.overlaps(writes) || written.overlaps(reads))
        return false
      touched.add(reads)
      written.add(writes)
    }
    contexts += contextSize
    return true
  })
}

function usesSenders(
  { operation, accessed }: ConflictCandidate,
  senders: ReadonlySet<Address>,
): boolean {
  if (accessed === undefined) return false
  const { reads, writes, associatedIn } = accessed
  const isOther = (contract: Address) => contract !== operation.sender && senders.has(contract)
  return [...reads.keys(), ...writes.keys(), ...associatedIn].some(isOther)
}

class SlotSet {
  readonly #slots = new Set<string>()

  add(sets: SlotSets): void {
    for (const key of keysOf(sets)) this.#slots.add(key)
  }

  overlaps(sets: SlotSets): boolean {
    for (const key of keysOf(sets)) if (this.#slots.has(key)) return true
    return false
  }
}

function* keysOf(sets: SlotSets): Generator<string> {
  for (const [contract, slots] of sets) for (const slot of slots) yield contract + slot
}
