import type { Party, RuleId } from './rules/violation.js'

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

/** A stake allows these to some extent, and an exception the same, as if the entity were staked. */
export const stakeRules = [
  'OP-080',
  'STO-022',
  'STO-031',
  'STO-032',
  'STO-033',
  'EREP-050',
] as const

/**
 * The rules that an operator may waive for an entity: those on what its validation sees and returns. The others protect the gas of a
 * bundle (OP-012, OP-020, LIM), nonces and created contracts (OP-031, AUTH), deposits (OP-054), and what was checked before
 * (OP-041, COD-010, EREP-055): they hold always.
 */
export const waivableRules = [
  'OP-011',
  'OP-061',
  'OP-062',
  ...stakeRules,
] as const satisfies readonly RuleId[]

/** An entity that may break rules for a time: an alternative mempool of ERC-7562. */
export type RuleException = Party & {
  readonly rules: readonly (typeof waivableRules)[number][]
  readonly reason: string
  /** Unix seconds */
  readonly until: number
}

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
