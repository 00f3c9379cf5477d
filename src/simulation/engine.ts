import type { Address, Hex } from 'viem'
import type { StateOverride } from '../chain/ethCall.js'
import type { EntryPoint, Failure } from '../erc4337/entryPoint.js'
import type { StateBefore } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'
import type { CodeHashes, Stakes } from '../erc4337/rules/index.js'
import type { Validity } from '../erc4337/validationData.js'
import type { ExecutionRecord, Fork } from '../evm/index.js'
import type { AssetMove } from './assetMoves.js'
import type { ReadSet } from './readSet.js'
import type { WitnessedRun } from './witness.js'

export type { StateOverride }

/** The facts about a validation that the rules of ERC-7562 need, as far as its engine can see them. */
export type Observed = ObservedRecord | ObservedResult

/** A recorded validation, in our EVM or by a trace of the node: everything that it did. */
export type ObservedRecord = {
  readonly kind: 'record'
  readonly stakes: Stakes
  /** The block on whose state it ran. */
  readonly blockHash: Hex
  readonly record: ExecutionRecord
  readonly fork: Fork
  /** Whether the sender has code without this operation, or by its authorization. */
  readonly senderExists: boolean
  /** Hashes of the code of every address whose code was used, as it was before. */
  readonly codeHashes: CodeHashes
  /** wei that the paymaster has deposited; undefined without paymaster. */
  readonly deposit: bigint | undefined
  /** All state that it depends on; absent where that is not known, or more than state. */
  readonly readSet?: ReadSet | undefined
  /** The token that the paymaster takes, where it is a token tank of ours. */
  readonly paymentToken?: Address
}

/** A validation of which a node returned only the result: opcodes, storage and code are not known. */
type ObservedResult = {
  readonly kind: 'resultOnly'
  readonly stakes: Stakes
  /** Bytes of the context that the paymaster returned. */
  readonly contextSize: number
}

/** The result of a validation that did not revert; its validity is that of account and paymaster together. */
export type Validation = Validity & {
  /** The account refused its signature (AA24 when sent). */
  readonly accountSignatureFailed: boolean
  /** The paymaster refused its signature (AA34 when sent). */
  readonly paymasterSignatureFailed: boolean
  /** gas of validation without preVerificationGas (preOpGas - preVerificationGas) */
  readonly verificationGasUsed: bigint
  /** Bytes of the context that the paymaster returned; 0 without paymaster. */
  readonly contextSize: number
  /** Absent where the engine does not see it. */
  readonly before?: StateBefore | undefined
  /** wei */
  readonly prefund: bigint
  readonly observed: Observed
}

export type ValidationResult = (
  | { readonly ok: true; readonly validation: Validation }
  | { readonly ok: false; readonly failure: Failure }
) & {
  /** What repeats the run; absent where a node made it. */
  witness?(): WitnessedRun
}

type ExecutionResult =
  | {
      readonly ok: true
      readonly validation: Pick<
        Validation,
        'validAfter' | 'validUntil' | 'verificationGasUsed' | 'contextSize'
      >
      /** Whether the call of the account succeeded. */
      readonly success: boolean
      /** Its revert data, `0x` on success. */
      readonly revertData: Hex
      /** gas that it is charged for; absent where the engine does not see it. */
      readonly actualGasUsed?: bigint
    }
  | { readonly ok: false; readonly failure: Failure }

/** Gas by the phases of an operation, without what the EntryPoint uses itself. */
export type PhaseGas = {
  /** All of validation, preVerificationGas included, and what the EntryPoint uses itself. */
  readonly preOp: bigint
  /** The creation and the validation of the account. */
  readonly account: bigint
  /** The validation of the paymaster. */
  readonly paymaster: bigint
  readonly call: bigint
  readonly postOp: bigint
}

/** A whole execution as our EVM saw it. */
export type Inspection =
  | {
      readonly ok: true
      readonly success: boolean
      /** Of the account's call; `0x` on success. */
      readonly revertData: Hex
      readonly actualGasUsed: bigint
      readonly phases: PhaseGas
      /** Bytes of the context that the paymaster returned; 0 without paymaster. */
      readonly contextSize: number
      readonly moves: readonly AssetMove[]
      /** The block on whose state it ran. */
      readonly blockHash: Hex
      /** wei per gas in the block that it ran in */
      readonly baseFee: bigint
    }
  | { readonly ok: false; readonly failure: Failure }

/** What only our own EVM sees. */
export type Inspecting = {
  /**
   * Runs an operation as `execute` does, whose payer has enough money for gas (see `fundsOn`), and looks at what it does.
   * Throws CannotSimulateError, also for one that moves more assets than are looked at.
   */
  inspect(entryPoint: EntryPoint, op: Operation): Promise<Inspection>
  /** Runs an operation as `execute` does, and returns what repeats the run, however it ends. */
  witness(entryPoint: EntryPoint, op: Operation, override?: StateOverride): Promise<WitnessedRun>
}

/**
 * The greatest gas limits that a measurement may try. `verification` bounds the account and the
 * paymaster, each by itself.
 */
export type GasBounds = {
  readonly call: bigint
  readonly verification: bigint
  /** The client's own limit of the call: the answer when it suffices and the search would end above it. */
  readonly ownCall?: bigint | undefined
  /** The fixed limit of postOp, for a paymaster whose data contain it; absent = searched. */
  readonly postOp?: bigint | undefined
}

/** The smallest limits (gas) under which an operation does the same as under ample ones. */
export type GasMeasurement = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  /** 0 without paymaster, and where the version has no such limit */
  readonly paymasterVerificationGasLimit: bigint
  /** gas of validation without preVerificationGas */
  readonly verificationGasUsed: bigint
  /** Bytes of the context that the paymaster returned; 0 without paymaster. */
  readonly contextSize: number
  readonly before?: StateBefore | undefined
  /**
   * gas that the paymaster's postOp needs; 0 when it is not called. Where it has no limit of its own it
   * is granted verificationGasLimit, which suffices when this is lower.
   */
  readonly postOpGasLimit: bigint
  /** Unix seconds over account and paymaster; 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
}

export type MeasureResult =
  | { readonly outcome: 'measured'; readonly gas: GasMeasurement }
  /** The EntryPoint refuses it, or the paymaster's postOp reverts. */
  | { readonly outcome: 'refused'; readonly failure: Failure }
  /** The call of the account reverts. */
  | { readonly outcome: 'reverted'; readonly revertData: Hex }

/** An engine runs operations without sending them: on a node, or in-process. */
export type Engine = {
  /** Validation phase only, on the state of the head. Refusals are data; node trouble is thrown. */
  validate(
    entryPoint: EntryPoint,
    op: Operation,
    override?: StateOverride,
  ): Promise<ValidationResult>
  /** Validation and execution. Signature and time range are not checked: that is for `validate`. */
  execute(entryPoint: EntryPoint, op: Operation, override?: StateOverride): Promise<ExecutionResult>
  /**
   * Searches gas limits; those in `op` are ignored. Signatures may be wrong, and its payer has enough money for gas
   * (see `fundSender`). `override` wins over that, slot by slot.
   */
  measure(
    entryPoint: EntryPoint,
    op: Operation,
    bounds: GasBounds,
    override?: StateOverride,
  ): Promise<MeasureResult>
}
