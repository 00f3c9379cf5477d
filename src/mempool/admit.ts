import type { Hex } from 'viem'
import { readDeposit } from '../chain/entryPointReads.js'
import { adviseFees, requireFees } from '../chain/fees.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import {
  ExecutionRevertedError,
  PreVerificationGasTooLowError,
  SignatureRejectedError,
} from '../errors/operationErrors.js'
import { faultPoint } from '../faults.js'
import { preVerificationGas } from '../gas/preVerificationGas.js'
import { findOperation } from '../store/operations.js'
import type { Validation } from '../validation/engine.js'
import { requireTimeRange, toOperationError } from '../validation/operationFailure.js'
import { commitAdmission } from './commitAdmission.js'
import { createAnnouncer } from './createAnnouncer.js'
import type { MempoolContext } from './mempoolContext.js'
import { requireLimits } from './requireLimits.js'

export type AdmissionOptions = {
  /** The app whose key sent the operation. */
  readonly appId: string
  /** Also run the call, and refuse an operation whose call reverts. */
  readonly simulateExecution: boolean
}

export type Mempool = {
  /**
   * Takes an operation into the pool and returns its hash, once it is stored durably. Sending a
   * pending or included operation again returns the same hash and does nothing else.
   *
   * Throws a class of errors/operationErrors for every refusal. preVerificationGas must pay for the
   * operation's full share of a bundle of the configured `bundleSize`: less is what we would lose on
   * each operation, so there is no discount.
   */
  admit(entryPoint: EntryPoint, op: Operation, options: AdmissionOptions): Promise<Hex>
}

export function createMempool(context: MempoolContext): Mempool {
  const { definition, database, logger } = context
  const { chainId } = definition
  const announce = createAnnouncer(database, chainId, logger)
  return {
    async admit(entryPoint, op, { appId, simulateExecution }) {
      const hash = entryPoint.hash(op, chainId)
      const known = await findOperation(database, chainId, hash)
      if (known && known.state !== 'dropped' && known.state !== 'replaced') return hash

      requireLimits(entryPoint, op, definition)
      const { validUntil, deposit } = await requireValid(context, entryPoint, op, simulateExecution)
      faultPoint('admission:simulated')
      const prefund = entryPoint.requiredPrefund(op)
      const entry = {
        ...{ chainId, hash, appId, prefund, validUntil },
        entryPoint: entryPoint.address,
        operation: op,
      }
      const decision = await commitAdmission(database, { entry, deposit }, definition)
      faultPoint('admission:committed')
      if (decision.kind === 'refuse') throw decision.error
      if (decision.kind === 'insert') {
        announce()
        const { sender, nonce } = op
        logger.debug({ hash, sender, nonce, replaces: decision.replaces }, 'operation admitted')
      }
      return hash
    },
  }
}

/** All that the chain has to say about the operation; throws its refusal. */
async function requireValid(
  context: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
  simulateExecution: boolean,
): Promise<{ validUntil: number; deposit: bigint | undefined }> {
  const { node, heads, engine } = context
  const head = heads.current()
  requireFees(op, head, await adviseFees(node, head))
  const [validated, deposit] = await Promise.all([
    engine.validate(entryPoint, op),
    op.paymaster && readDeposit(node, entryPoint.address, op.paymaster),
  ])
  if (!validated.ok) throw toOperationError(validated.failure, op)
  const { validation } = validated
  requireSignatures(validation)
  requireTimeRange(validation, op, Math.max(head.timestamp, Math.floor(Date.now() / 1000)))
  requirePreVerificationGas(context, entryPoint, op, validation)
  if (simulateExecution) await requireExecution(context, entryPoint, op)
  return { validUntil: validation.validUntil, deposit }
}

function requireSignatures(validation: Validation): void {
  if (validation.accountSignatureFailed) {
    throw new SignatureRejectedError('AA24 signature error', 'AA24')
  }
  if (validation.paymasterSignatureFailed) {
    throw new SignatureRejectedError('AA34 signature error', 'AA34')
  }
}

function requirePreVerificationGas(
  { bundleSize, dataGas }: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
  { verificationGasUsed }: Validation,
): void {
  const share = { bundleSize, dataGas, verificationGasUsed }
  const required = preVerificationGas(entryPoint, op, share)
  if (op.preVerificationGas < required) {
    throw new PreVerificationGasTooLowError(op.preVerificationGas, required)
  }
}

async function requireExecution(
  { engine }: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<void> {
  const executed = await engine.execute(entryPoint, op)
  if (!executed.ok) throw toOperationError(executed.failure, op)
  if (!executed.success) {
    const reason = describeRevert(executed.revertData) ?? 'no reason given'
    throw new ExecutionRevertedError(reason, executed.revertData)
  }
}
