import type { Address, Hex } from 'viem'

/** The contracts that an operation names (ERC-7562 "entity"). Aggregators are not supported. */
export type EntityRole = 'factory' | 'account' | 'paymaster'

/** An entity as the party to a rule. */
export type Party = { readonly role: EntityRole; readonly address: Address }

/** Identifiers of ERC-7562. */
export type RuleId =
  | 'OP-011'
  | 'OP-012'
  | 'OP-013'
  | 'OP-020'
  | 'OP-031'
  | 'OP-041'
  | 'OP-054'
  | 'OP-061'
  | 'OP-062'
  | 'OP-080'
  | 'COD-010'
  | 'STO-022'
  | 'STO-031'
  | 'STO-032'
  | 'STO-033'
  | 'EREP-050'
  | 'EREP-055'
  | 'AUTH-020'
  | 'AUTH-030'
  | 'AUTH-040'
  | 'LIM-010'
  | 'LIM-020'
  | 'LIM-030'
  | 'LIM-060'
  | 'LIM-070'

/** A rule that an operation breaks, and everything that explains it. */
export type Violation = {
  readonly rule: RuleId
  /** The entity whose frame broke it. */
  readonly entity: EntityRole
  readonly address: Address
  readonly opcode?: number
  readonly slot?: Hex
  /** The contract whose code ran, whose storage or code was touched, or that was called. */
  readonly contract?: Address
  /** The field of the operation to change. */
  readonly field?: string
  /** The entity whose stake would have made it legal. */
  readonly stakeNeeded?: Party
  /** Whether another entity of the operation ran, which the entity had called, or what that called. */
  readonly byOther?: true
  readonly message: string
}

/** The violation of `rule` by an entity; `details` explain it. */
export function violation(
  rule: RuleId,
  { role, address }: Party,
  message: string,
  details: Omit<Violation, 'rule' | 'entity' | 'address' | 'message'> = {},
): Violation {
  return { rule, entity: role, address, message, ...details }
}
