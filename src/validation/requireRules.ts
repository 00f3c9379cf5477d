import type { Logger } from 'pino'
import type { Operation } from '../entrypoint/operation.js'
import { CannotCheckRulesError } from '../errors/ruleErrors.js'
import type { RuleCheck, RuleSettings } from './checkRules.js'
import { toViolationError } from './erc7562/index.js'

/**
 * The outcome of the rules for one operation, as the metrics count it. `judged`: all rules hold;
 * `partly`: those that could be checked hold, as only the node could run it (rules are `partial`);
 * `violation`: refused for a broken rule; `unjudged`: refused as not all rules could be checked.
 */
export type RuleOutcome = 'judged' | 'partly' | 'violation' | 'unjudged'

type Context = {
  readonly rules: RuleSettings
  /** Called for each operation, for the metrics. */
  readonly onRulesChecked: (outcome: RuleOutcome) => void
  readonly logger: Logger
}

/**
 * Throws the error of the first rule that is broken; in mode `full` CannotCheckRulesError when not all
 * rules could be checked.
 */
export function requireRules(
  { rules, onRulesChecked, logger }: Context,
  { sender, nonce }: Operation,
  { violations, verdict }: RuleCheck,
): void {
  if (rules.mode === 'off') return
  const [violation] = violations
  if (violation) {
    onRulesChecked('violation')
    throw toViolationError(violation, rules.stakePolicy)
  }
  if (verdict) onRulesChecked('judged')
  else if (rules.mode === 'full') {
    onRulesChecked('unjudged')
    throw new CannotCheckRulesError()
  } else {
    onRulesChecked('partly')
    logger.warn({ sender, nonce }, 'an operation was judged by some rules only')
  }
}
