import type { Logger } from 'pino'
import { CannotCheckRulesError } from '../base/errors/ruleErrors.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import { unixNow } from '../base/unixNow.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import {
  answerableFor,
  applyRules,
  checkContext,
  checkFields,
  countsAsStaked,
  limitProfiles,
  type RuleLimits,
  type StakePolicy,
  splitWaived,
  toViolationError,
  type Verdict,
  type Violation,
} from '../erc4337/rules/index.js'
import type { RuleException, RuleMode, ValidationSettings } from '../erc4337/validationSettings.js'
import type { Observed } from './engine.js'

/** The settings by which a chain's operations are checked. */
export type RuleSettings = {
  readonly mode: RuleMode
  readonly limits: RuleLimits
  readonly stakePolicy: StakePolicy
  readonly exceptions: readonly RuleException[]
}

/** The rules that a validation breaks. */
export type RuleCheck = {
  readonly violations: readonly Violation[]
  /** Those that the operator lets it break now. */
  readonly waived: readonly Violation[]
  /** Undefined where only the result of the validation is known, and in mode `off`. */
  readonly verdict: Verdict | undefined
}

/** Checks a validation by all rules for which `observed` has the facts. */
export function checkRules(
  entryPoint: EntryPoint,
  op: Operation,
  observed: Observed,
  { mode, limits, stakePolicy, exceptions }: RuleSettings,
): RuleCheck {
  if (mode === 'off') return { violations: [], waived: [], verdict: undefined }
  if (observed.kind === 'record') {
    const verdict = applyRules({ ...observed, entryPoint, op, limits, stakePolicy })
    return { ...splitWaived(verdict.violations, exceptions, unixNow()), verdict }
  }
  const { stakes, contextSize } = observed
  const violations = checkFields(entryPoint, op, limits)
  if (op.paymaster !== undefined) {
    const staked = countsAsStaked(stakes.paymaster, stakePolicy)
    const paymaster = { role: 'paymaster', address: op.paymaster, staked } as const
    violations.push(...checkContext(paymaster, contextSize, limits))
  }
  return { ...splitWaived(violations, exceptions, unixNow()), verdict: undefined }
}

type Context = {
  readonly rules: RuleSettings
  readonly metrics: ChainMetrics
  readonly logger: Logger
}

/**
 * Throws the error of the first rule that is broken; in mode `full` CannotCheckRulesError when not all
 * rules could be checked. The outcomes are counted: `judged`, all rules hold; `partly`, those that could be
 * checked hold, as only the node could run the operation (rules are `partial`); `violation`, refused for a broken
 * rule; `unjudged`, refused as not all rules could be checked.
 */
export function requireRules(
  { rules, metrics, logger }: Context,
  { sender, nonce }: Operation,
  { violations, waived, verdict }: RuleCheck,
): void {
  if (rules.mode === 'off') return
  const [violation] = violations
  if (violation) {
    metrics.count('purser_rule_judgements_total', { outcome: 'violation' })
    throw toViolationError(violation, rules.stakePolicy)
  }
  const uses = waived.map((each) => ({ rule: each.rule, entity: answerableFor(each).address }))
  for (const use of new Map(uses.map((each) => [each.rule + each.entity, each])).values())
    metrics.count('purser_rules_waived_total', use)
  if (verdict) metrics.count('purser_rule_judgements_total', { outcome: 'judged' })
  else if (rules.mode === 'full') {
    metrics.count('purser_rule_judgements_total', { outcome: 'unjudged' })
    throw new CannotCheckRulesError()
  } else {
    metrics.count('purser_rule_judgements_total', { outcome: 'partly' })
    logger.warn({ sender, nonce }, 'an operation was validated by partial rules')
  }
}

/** The settings by which the operations of a chain are checked. */
export function ruleSettings(settings: Omit<ValidationSettings, 'validationEngine'>): RuleSettings {
  return {
    mode: settings.rules,
    limits: limitProfiles.lenient,
    exceptions: settings.ruleExceptions,
    stakePolicy: {
      minimumStake: settings.minimumStake,
      minimumUnstakeDelay: BigInt(settings.minimumUnstakeDelay),
    },
  }
}
