import type { Hex } from 'viem'
import type { StateOverride } from '../chain/stateOverride.js'
import type { EntryPoint, Failure } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { ExecutionRecord, Fork } from '../evm/index.js'
import type { CodeHashes, Stakes } from './erc7562/index.js'

export type { StateOverride }

/** What a validation did, as far as its engine can see: what the rules of ERC-7562 judge. */
export type Observed = ObservedRun | ObservedOutline

/** A run in our EVM: everything that it did. */
export type ObservedRun = {
  readonly kind: 'run'
  readonly stakes: Stakes
  /** The block on whose state it ran. */
  readonly blockHash: Hex
  readonly record: ExecutionRecord
  readonly fork: Fork
  /** Whether the sender has code without this operation, or by its authorization. */
  readonly senderExists: boolean
  /** Of every address whose code was used, as it was before. */
  readonly codeHashes: CodeHashes
  /** wei that the paymaster has deposited; undefined without paymaster. */
  readonly deposit: bigint | undefined
}

/** A node ran it and told the result only: opcodes, storage and code are not known. */
export type ObservedOutline = {
  readonly kind: 'outline'
  readonly stakes: Stakes
  /** Bytes of the context that the paymaster returned. */
  readonly contextSize: number
}

/** What a validation that did not revert says. */
export type Validation = {
  /** Account or paymaster signature check failed (AA24 / AA34 when sent). */
  readonly accountSignatureFailed: boolean
  readonly paymasterSignatureFailed: boolean
  /** Unix seconds over account and paymaster; 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
  /** gas of validation without preVerificationGas (preOpGas - preVerificationGas) */
  readonly verificationGasUsed: bigint
  readonly prefund: bigint
  readonly observed: Observed
}

export type ValidationResult =
  | { readonly ok: true; readonly validation: Validation }
  | { readonly ok: false; readonly failure: Failure }

export type ExecutionResult =
  | {
      readonly ok: true
      readonly validation: Pick<Validation, 'validAfter' | 'validUntil' | 'verificationGasUsed'>
      /** Did the call of the account succeed? */
      readonly success: boolean
      /** Its revert data, `0x` on success. */
      readonly revertData: Hex
    }
  | { readonly ok: false; readonly failure: Failure }

/**
 * Gas limits that a measurement may try at most; `verification` holds for what the paymaster does
 * too, each time by itself.
 */
export type GasBounds = {
  readonly call: bigint
  readonly verification: bigint
  /** The very limit of postOp, for a paymaster that has it in its data too; absent = searched. */
  readonly postOp?: bigint | undefined
}

/** The smallest limits (gas) under which an operation does what it does under ample ones. */
export type GasMeasurement = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  /** 0 without paymaster, and where the version has no such limit */
  readonly paymasterVerificationGasLimit: bigint
  /** gas of validation without preVerificationGas */
  readonly verificationGasUsed: bigint
  /**
   * gas that the paymaster's postOp needs; 0 when it is not called. Where it has no limit of its own it
   * is granted verificationGasLimit, and needs no more when this is below.
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

/** Runs operations without sending them: on a node, or in-process. One way in for all callers. */
export type Engine = {
  /** Validation phase only, on the state of the head. Refusals are data; node trouble is thrown. */
  validate(
    entryPoint: EntryPoint,
    op: Operation,
    override?: StateOverride,
  ): Promise<ValidationResult>
  /** Validation and execution. Signature and time range are not judged: that is for `validate`. */
  execute(entryPoint: EntryPoint, op: Operation, override?: StateOverride): Promise<ExecutionResult>
  /** Searches gas limits; those in `op` are not looked at. Signatures may be wrong. */
  measure(
    entryPoint: EntryPoint,
    op: Operation,
    bounds: GasBounds,
    override?: StateOverride,
  ): Promise<MeasureResult>
}
