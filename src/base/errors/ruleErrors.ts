import type { Address, Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { PurserError } from './purserError.js'

type Broken = {
  /** The sentence that names the violation, its entity and its place. */
  readonly message: string
  /** `OP-011`, `STO-021`: an identifier of ERC-7562. */
  readonly rule: string
  readonly place: {
    readonly entity: string
    readonly address: Address
    readonly opcode?: Hex
    readonly slot?: Hex
    readonly contract?: Address
  }
}

/**
 * Validation breaks a rule of ERC-7562 on opcodes, storage, code or delegation. ERC-7769 -32502.
 */
export class RuleViolationError extends PurserError {
  constructor({ message, rule, place }: Broken) {
    super(`${message} (${rule})`, { code: -32502, rule, data: place })
  }
}

type Minimum = {
  /** wei */
  readonly minimumStake: bigint
  /** seconds */
  readonly minimumUnstakeDelay: bigint
}

/**
 * Validation does something that only staked entities may do. ERC-7769 has -32505 for stakes;
 * clients, other bundlers and the public suite expect -32502, as for every broken rule. `data` has
 * the minima.
 */
export class StakeTooLowError extends PurserError {
  constructor(
    { message, rule, place, minimumStake, minimumUnstakeDelay }: Broken & Minimum,
    { role, address }: { readonly role: string; readonly address: Address },
  ) {
    super(
      `${message} (${rule}). ${role} ${address} needs a stake of at least ${minimumStake} wei, locked for ${minimumUnstakeDelay} s.`,
      {
        code: -32502,
        rule,
        data: {
          ...place,
          [role]: address,
          minimumStake: numberToHex(minimumStake),
          minimumUnstakeDelay: numberToHex(minimumUnstakeDelay),
        },
      },
    )
  }
}

type NamedEntity = { readonly role: string; readonly address: Address }

/** An entity is throttled or banned by its reputation. ERC-7769 -32504. */
export class EntityReputationError extends PurserError {
  constructor({ role, address }: NamedEntity, rule: 'GREP-010' | 'GREP-020', reason: string) {
    super(`${role} ${address} ${reason} (${rule})`, {
      code: -32504,
      rule,
      data: { [role]: address },
    })
  }
}

/** An entity without stake has as many pending operations as it may have. ERC-7769 -32505. */
export class UnstakedEntityFullError extends PurserError {
  constructor({ role, address }: NamedEntity, rule: 'UREP-010' | 'UREP-020', most: number) {
    super(
      `unstaked ${role} ${address} has ${most} pending operations, max allowed ops without stake. Wait until one is included. (${rule})`,
      { code: -32505, rule, data: { [role]: address, limit: most } },
    )
  }
}

/** An operation that only the node could run, so that its opcodes, storage and code are not known. */
export class CannotCheckRulesError extends PurserError {
  constructor() {
    super(
      'This operation cannot be checked against the rules of ERC-7562: only the node could run it. The operator can allow such operations with "rules": "partial".',
      { code: -32500, rule: 'CANNOT_SIMULATE' },
    )
  }
}
