import type { Address, Hex } from 'viem'
import type { Fees } from './fees.js'
import type { ForkGas } from './forkGas.js'
import type { Operation, OperationPaymaster } from './operation.js'
import type { Version, VersionFacts } from './versionFacts.js'

export type { Version } from './versionFacts.js'

/** A log as nodes give it, quantities already decoded. Addresses lower case. */
export type Log = {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly logIndex: number
}

/** The content of one UserOperationEvent, with the logs that belong to its operation (ERC-7769 receipts). */
export type OperationOutcome = {
  readonly userOpHash: Hex
  readonly sender: Address
  readonly nonce: bigint
  /** Zero address when no paymaster paid. */
  readonly paymaster: Address
  readonly success: boolean
  /** wei */
  readonly actualGasCost: bigint
  /** gas */
  readonly actualGasUsed: bigint
  /** Revert data of the call (or postOp), `0x` when none was reported. */
  readonly reason: Hex
  readonly event: Log
  /** The operation's own logs, its UserOperationEvent last. */
  readonly logs: readonly Log[]
}

/** An operation that a block includes, with the EntryPoint that ran it. */
export type Included = { readonly entryPoint: Address; readonly outcome: OperationOutcome }

/** An error code of the EntryPoint contract: `AA25`. */
export type AaCode = `AA${number}`

/** The reason why handleOps or a simulation refused. */
export type Failure = {
  /** The blamed operation's place in the bundle; undefined when the EntryPoint blames none (AA9x). */
  readonly index: number | undefined
  /** Undefined when the EntryPoint gave none. */
  readonly code: AaCode | undefined
  /** Whole text with the decoded inner reason, e.g. `AA23 reverted: Not owner`. */
  readonly message: string
  readonly revertData: Hex
}

/** The stake of an account, locked in the EntryPoint. */
export type StakeInfo = {
  /** wei */
  readonly stake: bigint
  /** seconds */
  readonly unstakeDelay: bigint
}

/** The part of a validation on which later charges depend. */
export type ValidationUse = {
  /** gas of validation without preVerificationGas (preOpGas - preVerificationGas) */
  readonly verificationGasUsed: bigint
  /** Bytes of the context that the paymaster returned; without any its postOp is not called. */
  readonly contextSize: number
}

/** Gas of an execution that is over. */
export type ExecutionUse = {
  /** All that was charged after validation, with the charge for unused gas. */
  readonly charged: bigint
  readonly call: bigint
  readonly postOp: bigint
  /** Bytes of the paymaster's context; without any its postOp is not called. */
  readonly contextSize: number
}

/** One deployed EntryPoint contract. Everything that differs between versions lives behind this. */
export type EntryPoint = VersionFacts &
  EntryPointContract & {
    readonly version: Version
    /** What bundles cost by the rules that its chain has now. */
    gas(): ForkGas
  }

/** The part of an EntryPoint that its file in `versions/` makes. */
export type EntryPointContract = {
  readonly address: Address
  /** The layout of the calls that handleOps makes, for observers. */
  readonly callLayout: CallLayout
  /**
   * userOpHash on `chainId`. An operation with the EIP-7702 marker as factory needs the delegate of
   * its sender: that of `op.authorization`, else `delegate`, what the sender's code points to.
   * Throws OperationLimitError when a field does not fit or the delegate is missing.
   */
  hash(op: Operation, chainId: number, delegate?: Address): Hex
  encodeHandleOps(ops: readonly Operation[], beneficiary: Address): Hex
  /**
   * The operations of a handleOps input, without authorizations, which a transaction carries apart;
   * undefined when it is no handleOps call of this version.
   */
  decodeHandleOps(input: Hex): readonly Operation[] | undefined
  /** The field as this version packs it, with the paymaster's gas limits from v0.7 on; `0x` = none. */
  paymasterAndData(op: Operation): Hex
  /** The reverse; undefined where the bytes are too short. */
  readPaymasterAndData(bytes: Hex): OperationPaymaster | undefined
  /** ABI encoding of the packed operation alone, the calldata that preVerificationGas pays for. */
  encodeOperation(op: Operation): Hex
  /** wei that must be covered before validation: gas limits times maxFeePerGas. */
  requiredPrefund(op: Operation): bigint
  /** Sum of all gas limits that requiredPrefund charges, with the version's multipliers. */
  chargeableGas(op: Operation): bigint
  /** wei per gas that the EntryPoint charges an operation with these fees at `baseFee`. */
  gasPrice(fees: Fees, baseFee: bigint): bigint
  /**
   * The most gas that the EntryPoint may charge an operation whose validation is `validated`, whatever
   * its call and its paymaster's postOp do. Where that costs more than the prefund the whole bundle
   * reverts (AA51). Undefined where the version takes no more than the prefund instead.
   */
  mostCharged(op: Operation, validated: ValidationUse): bigint | undefined
  /**
   * The least gas that the EntryPoint charges for the operation's call and its paymaster's postOp, without validation,
   * whatever they use: 0 where unused gas is free.
   */
  leastExecutionCharge(op: Operation): bigint
  /** The part of what was charged after validation that is for gas which the limits left unused; to within one gas each. */
  unusedGasCharge(op: Operation, used: ExecutionUse): bigint
  /** Gas one operation may use inside handleOps, for the bundle's gas limit. */
  bundleGas(op: Operation): bigint
  /** Storage slots of the EntryPoint that hold the stake of `account`, for `readStake`. */
  stakeSlots(account: Address): readonly Hex[]
  /** The stake in the words of `stakeSlots`; one that was unlocked to be withdrawn is none. */
  readStake(words: readonly bigint[]): StakeInfo
  /** The failure in revert data of handleOps or a simulation; undefined when it is something else. */
  decodeFailure(revertData: Hex): Failure | undefined
  /** The outcomes in a transaction's logs; only logs of this EntryPoint's address count. */
  decodeOutcomes(logs: readonly Log[]): readonly OperationOutcome[]
}

/** The layout of the calls that handleOps makes, for an observer who reads them. */
export type CallLayout = {
  /** Selectors. */
  readonly validateUserOp: Hex
  readonly validatePaymasterUserOp: Hex
  readonly innerHandleOp: Hex
  readonly getUserOpHash: Hex
  readonly postOp: Hex
  /** With this selector the account's call gets the whole operation; undefined where the version has none. */
  readonly executeUserOp: Hex | undefined
  /** Positions in the input of innerHandleOp, in bytes, of prefund, preOpGas and the context's offset. */
  readonly prefundAt: number
  readonly preOpGasAt: number
  readonly contextAt: number
}
