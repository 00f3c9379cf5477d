import type { RuleMode } from '../chain/definition/validationSettings.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { Observed } from './engine.js'
import {
  applyRules,
  checkContext,
  checkFields,
  countsAsStaked,
  type RuleLimits,
  type StakePolicy,
  type Verdict,
  type Violation,
} from './erc7562/index.js'

/** The settings by which a chain's operations are checked. */
export type RuleSettings = {
  readonly mode: RuleMode
  readonly limits: RuleLimits
  readonly stakePolicy: StakePolicy
}

/** The rules that a validation breaks. */
export type RuleCheck = {
  readonly violations: readonly Violation[]
  /** Undefined where only the result of the validation is known, and in mode `off`. */
  readonly verdict: Verdict | undefined
}

/** Checks a validation by all rules for which `observed` has the facts. */
export function checkRules(
  entryPoint: EntryPoint,
  op: Operation,
  observed: Observed,
  { mode, limits, stakePolicy }: RuleSettings,
): RuleCheck {
  if (mode === 'off') return { violations: [], verdict: undefined }
  if (observed.kind === 'record') {
    const verdict = applyRules({ ...observed, entryPoint, op, limits, stakePolicy })
    return { violations: verdict.violations, verdict }
  }
  const { stakes, contextSize } = observed
  const violations = checkFields(entryPoint, op, limits)
  if (op.paymaster !== undefined) {
    const staked = countsAsStaked(stakes.paymaster, stakePolicy)
    const paymaster = { role: 'paymaster', address: op.paymaster, staked } as const
    violations.push(...checkContext(paymaster, contextSize, limits))
  }
  return { violations, verdict: undefined }
}
