import type { Address, Hex } from 'viem'
import { bundlingHorizon } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import type { EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import { highestBaseFee } from '../../entrypoint/highestBaseFee.js'
import { endsBefore } from '../../entrypoint/validationData.js'
import {
  CannotSimulateError,
  SimulationLostError,
  TooCostlyError,
} from '../../errors/simulationErrors.js'
import { tokenTankUse, withStakedTank } from '../../mempool/tokenTankUse.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import { checkRules } from '../../validation/checkRules.js'
import type { Validation } from '../../validation/engine.js'
import {
  type AccessedStorage,
  changedCode,
  changedContext,
  type EntityRole,
  gasOfStaked,
  type Verdict,
  type Violation,
} from '../../validation/erc7562/index.js'
import { signatureFailure } from '../../validation/signatureFailure.js'
import type { BundlingContext } from '../bundlingContext.js'
import { classifyFailure } from './classifyFailure.js'
import { roleOfFailure } from './responsibleEntity.js'

/** The result of the second validation of an operation, on the state of the head. */
export type SecondValidation =
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
 * its context (EREP-055) may have changed since it was taken in. One that a token tank of ours charges
 * only afterwards is run whole. Node trouble is thrown.
 */
export async function validateAgain(
  context: BundlingContext,
  entryPoint: EntryPoint,
  head: Head,
  stored: StoredOperation,
): Promise<SecondValidation> {
  const { engine, rules, logger, database, definition } = context
  const { hash, operation } = stored
  const tank = await tokenTankUse(database, definition.chainId, entryPoint, operation)
  if (rules.mode === 'off' && tank === undefined)
    return { kind: 'valid', stored, accessed: undefined }
  try {
    const validated = await engine.validate(entryPoint, operation)
    const { chainId } = definition
    const failure = validated.ok
      ? signatureFailure(validated.validation, { entryPoint, chainId, hash })
      : validated.failure
    if (failure) return await failed(context, entryPoint, head, stored, failure)
    if (!validated.ok) throw new Error('a refusal has no failure')
    const { validation } = validated
    const { validAfter, validUntil, blocks } = validation
    const observed = withStakedTank(validation.observed, tank, rules.stakePolicy)
    if (validAfter > head.timestamp || blocks.after > head.number) return { kind: 'wait', stored }
    const last = await bundlingHorizon(context.node, head, definition)
    if (endsBefore(validation, last)) {
      const isLate = validUntil !== 0 && validUntil < last.timestamp
      const ends = isLate
        ? `valid until ${validUntil}, a bundle must be valid until ${last.timestamp}`
        : `valid until block ${blocks.until}, a bundle must be valid until block ${last.number}`
      const reason = `ends too soon to be bundled: ${ends}`
      return {
        kind: 'drop',
        stored,
        drop: { hash, code: 'EXPIRED', reason },
        responsible: undefined,
      }
    }
    const { violations, verdict } = checkRules(entryPoint, operation, observed, rules)
    const [violation] = [...violations, ...changesSince(stored, validation, verdict)]
    if (violation) return violated(stored, violation)
    if (verdict === undefined && rules.mode === 'full') {
      logger.warn({ op: hash }, 'an operation waits: it can be checked by some rules only')
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
    context.gasWatch?.note(hash, gasOfStaked(watched, observed.stakes, rules.stakePolicy))
    return { kind: 'valid', stored: { ...stored, mostCharged }, accessed: verdict?.accessed }
  } catch (error) {
    const isLost = error instanceof SimulationLostError
    if (!isLost && !(error instanceof CannotSimulateError)) throw error
    if (error instanceof TooCostlyError) {
      const drop = { hash, code: 'TOO_COSTLY', reason: error.message } as const
      return { kind: 'drop', stored, drop, responsible: undefined }
    }
    const facts = { op: hash, reason: error.message }
    logger.warn(facts, 'an operation waits: it cannot be validated again')
    return { kind: 'wait', stored }
  }
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
