import type { Address, Hex } from 'viem'
import type { Head } from '../../chain/nodeReads.js'
import type { AaCode, EntryPoint, Failure } from '../../entrypoint/entryPoint.js'
import { CannotSimulateError } from '../../errors/simulationErrors.js'
import { tokenTankUse, withStakedTank } from '../../mempool/tokenTank.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import { checkRules } from '../../validation/checkRules.js'
import type { Observed, Validation } from '../../validation/engine.js'
import {
  type AccessedStorage,
  changedCode,
  changedContext,
  type EntityRole,
  type Verdict,
  type Violation,
} from '../../validation/erc7562/index.js'
import type { BundlingContext } from '../bundlingContext.js'
import { classifyFailure } from './classifyFailure.js'
import { roleOfFailure } from './responsibleEntity.js'

/** What the second validation of an operation, on the state of the head, makes of it. */
export type SecondValidation =
  | {
      readonly kind: 'valid'
      readonly stored: StoredOperation
      /** Undefined where rules are off or only partly judged. */
      readonly accessed: AccessedStorage | undefined
    }
  /** It stays in the pool, and out of this bundle. */
  | { readonly kind: 'wait'; readonly stored: StoredOperation }
  | {
      readonly kind: 'drop'
      readonly stored: StoredOperation
      readonly drop: Drop
      /** Whose doing it is; undefined = nobody's. */
      readonly culprit: EntityRole | undefined
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
    const failure = validated.ok ? failureIn(validated.validation) : validated.failure
    if (failure) return await failed(context, entryPoint, head, stored, failure)
    if (!validated.ok) throw new Error('a refusal has no failure')
    const { validation } = validated
    const { validAfter, validUntil } = validation
    const observed = withStakedTank(validation.observed, tank, rules.stakePolicy)
    if (validAfter > head.timestamp) return { kind: 'wait', stored }
    if (validUntil !== 0 && validUntil <= head.timestamp) {
      const reason = `valid until ${validUntil}, block time ${head.timestamp}`
      return { kind: 'drop', stored, drop: { hash, code: 'AA22', reason }, culprit: undefined }
    }
    const { violations, verdict } = checkRules(entryPoint, operation, observed, rules)
    const [violation] = [...violations, ...changes(stored, observed, verdict)]
    if (violation) return broke(stored, violation)
    if (verdict === undefined && rules.mode === 'full') {
      logger.warn({ hash }, 'an operation waits: it can be judged by some rules only')
      return { kind: 'wait', stored }
    }
    if (tank?.chargesAfterwards === true) {
      const run = await engine.execute(entryPoint, operation)
      if (!run.ok) return await failed(context, entryPoint, head, stored, run.failure)
      if (!run.success) return { kind: 'drop', stored, drop: uncharged(hash), culprit: undefined }
    }
    // What a tank of ours uses is our own doing.
    const judged = verdict?.entities.filter(({ role }) => !(tank && role === 'paymaster')) ?? []
    context.gasWatch?.note(hash, judged)
    return { kind: 'valid', stored, accessed: verdict?.accessed }
  } catch (error) {
    if (!(error instanceof CannotSimulateError)) throw error
    logger.warn({ hash, reason: error.message }, 'an operation waits: it cannot be validated again')
    return { kind: 'wait', stored }
  }
}

/** It reverts now, or leaves its tank without the tokens: both would be at the tank's expense. */
function uncharged(hash: Hex): Drop {
  return {
    hash,
    code: 'CHARGE_FAILS',
    reason:
      'the operation fails now, or leaves no tokens for its gas: keep tokens and approval in place and ask for a new quote',
  }
}

/** The EntryPoint would say so; simulations note a wrong signature and go on. */
function failureIn(validation: Validation): Failure | undefined {
  const said = (code: AaCode): Failure => {
    return { index: 0, code, message: `${code} signature error`, revertData: '0x' }
  }
  if (validation.accountSignatureFailed) return said('AA24')
  return validation.paymasterSignatureFailed ? said('AA34') : undefined
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
  return { kind: 'drop', stored, drop, culprit: roleOfFailure(failure.code) }
}

function changes(
  { operation, firstValidation: first }: StoredOperation,
  observed: Observed,
  verdict: Verdict | undefined,
): Violation[] {
  if (first === undefined || verdict === undefined || observed.kind !== 'run') return []
  const before = new Map(Object.entries(first.codeHashes)) as Map<Address, `0x${string}`>
  const both = new Map([...verdict.visitedCode].filter(([address]) => before.has(address)))
  const violations = changedCode(both, before, observed.codeHashes)
  if (operation.paymaster === undefined) return violations
  const paymaster = { role: 'paymaster', address: operation.paymaster } as const
  return [...violations, ...changedContext(paymaster, first.contextSize, verdict.contextSize)]
}

function broke(stored: StoredOperation, { rule, entity, message }: Violation): SecondValidation {
  const drop = { hash: stored.hash, code: rule, reason: message }
  return { kind: 'drop', stored, drop, culprit: entity }
}
