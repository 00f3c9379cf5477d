import type { Logger } from 'pino'
import type { Operation } from '../entrypoint/operation.js'
import { CannotJudgeError } from '../errors/ruleErrors.js'
import type { RuleCheck, RuleSettings } from './checkRules.js'
import { toViolationError } from './erc7562/index.js'

/**
 * How an operation was judged: by all rules; by some, as only the node could run it (rules are
 * `partial`); refused for a broken rule; refused as not all rules could be judged.
 */
export type CheckedWith = 'judged' | 'partly' | 'violation' | 'unjudged'

type Context = {
  readonly rules: RuleSettings
  /** Called for each operation, for the metrics. */
  readonly onRulesChecked: (how: CheckedWith) => void
  readonly logger: Logger
}

/**
 * Throws the error of the first rule that is broken; in mode `full` CannotJudgeError when not all rules
 * could be judged.
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
    throw new CannotJudgeError()
  } else {
    onRulesChecked('partly')
    logger.warn({ sender, nonce }, 'an operation was judged by some rules only')
  }
}
