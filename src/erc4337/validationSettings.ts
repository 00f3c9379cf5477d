import type { RuleException } from './rules/index.js'

/**
 * The rules of ERC-7562 that an operation must hold. `full`: all; an operation that cannot be checked by
 * each of them is refused. `partial`: those that can be checked. `off`: none.
 */
export type RuleMode = (typeof ruleModes)[number]

export const ruleModes = ['full', 'partial', 'off'] as const

/**
 * The engine that validates: `inProcess` our EVM alone, `node` the node alone, `auto` our EVM, and the
 * node where our EVM cannot or is not trusted.
 */
export type EngineChoice = (typeof engineChoices)[number]

export const engineChoices = ['auto', 'inProcess', 'node'] as const

/** The settings of a chain by which its operations are validated. */
export type ValidationSettings = {
  readonly rules: RuleMode
  readonly validationEngine: EngineChoice
  /** wei from which an entity counts as staked (MIN_STAKE_VALUE). */
  readonly minimumStake: bigint
  /** Seconds for which a stake must be locked (MIN_UNSTAKE_DELAY). */
  readonly minimumUnstakeDelay: number
  readonly ruleExceptions: readonly RuleException[]
}
