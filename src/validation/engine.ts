import type { Hex } from 'viem'
import type { StateOverride } from '../chain/stateOverride.js'
import type { EntryPoint, Failure } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

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

/** Runs operations without sending them: on a node, or later in-process. One way in for all callers. */
export type Engine = {
  /** Validation phase only, on the latest state. Refusals are data; node trouble is thrown. */
  validate(
    entryPoint: EntryPoint,
    op: Operation,
    override?: StateOverride,
  ): Promise<ValidationResult>
  /** Validation and execution. */
  execute(entryPoint: EntryPoint, op: Operation, override?: StateOverride): Promise<ExecutionResult>
}
