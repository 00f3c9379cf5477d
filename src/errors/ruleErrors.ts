import { type Address, type Hex, numberToHex } from 'viem'
import { PurserError } from './purserError.js'

type Broken = {
  /** What was done, by whom and where. */
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

/** Validation breaks a rule of ERC-7562 on opcodes, storage, code or delegation. ERC-7769 -32502. */
export class RuleViolationError extends PurserError {
  override readonly name = 'RuleViolationError'
  constructor({ message, rule, place }: Broken) {
    super(`${message} (${rule})`, { code: -32502, status: 400, rule, data: place })
  }
}

type Minimum = {
  /** wei */
  readonly minimumStake: bigint
  /** seconds */
  readonly minimumUnstakeDelay: bigint
}

/** What validation does is open to staked entities only. ERC-7769 -32505. */
export class StakeTooLowError extends PurserError {
  override readonly name = 'StakeTooLowError'
  constructor(
    { message, rule, place, minimumStake, minimumUnstakeDelay }: Broken & Minimum,
    { role, address }: { readonly role: string; readonly address: Address },
  ) {
    super(
      `${message} (${rule}). ${role} ${address} needs a stake of at least ${minimumStake} wei, locked for ${minimumUnstakeDelay} s.`,
      {
        code: -32505,
        status: 400,
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
