import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import {
  ExecutionRevertedError,
  PreVerificationGasTooLowError,
} from '../base/errors/operationErrors.js'
import { PurserError } from '../base/errors/purserError.js'
import { CannotSimulateError } from '../base/errors/simulationErrors.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { StateOverride } from '../chain/ethCall.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import type { Fork } from '../evm/index.js'
import type { IncludedOperation, PartyEngine } from '../simulation/chainEngine.js'
import { toOperationError } from '../simulation/operationFailure.js'
import { dataGas } from './dataGas.js'
import type { DataPrice } from './dataPrice.js'
import { estimateOperation, type GasEstimate } from './estimateOperation.js'
import { bundleCharges, expectedShare, preVerificationGas } from './preVerificationGas.js'

export type RehearsalContext = {
  readonly node: NodeClient
  readonly engine: Pick<PartyEngine, 'openPast'>
  readonly definition: ChainDefinition
  readonly advice: FeeAdvice
  readonly dataPrice: DataPrice | undefined
  readonly fork: Fork
  /** What clients of the app get in place of an estimate of the chain. */
  readonly ofApp: (estimate: Estimate) => Estimate
}

/** An included operation as it was recorded. */
export type RecordedOperation = {
  readonly operation: Operation
  readonly blockHash: Hex
  /** Whether its call succeeded. */
  readonly success: boolean
  /** The operations with which it shared the fixed costs of a bundle, itself included. */
  readonly sharedBy: number
}

type Estimate = (
  entryPoint: EntryPoint,
  draft: Draft,
  override?: StateOverride,
) => Promise<GasEstimate>

/** An operation by the rules of a fork. */
export type RehearsedOperation = {
  /** Whether the newest state stood in for the one that it met, which the node has lost. */
  readonly isNewest: boolean
  /** The reason why it would fail as it was signed. */
  readonly failure: PurserError | undefined
  /** gas that it is charged for with the limits of a new estimate; undefined where it fails with these too. */
  readonly gas: bigint | undefined
  /** wei that its payer must have for it then */
  readonly maxCost: bigint | undefined
}

/**
 * Runs an included operation by the rules of a fork: as it was signed, and with the limits that an estimate would give it.
 * Throws CannotSimulateError where it cannot be repeated by the rules of its own block either, so that it says nothing
 * about the fork.
 */
export async function rehearseOperation(
  context: RehearsalContext,
  entryPoint: EntryPoint,
  recorded: RecordedOperation,
): Promise<RehearsedOperation> {
  const { engine, fork } = context
  const { operation: op, blockHash } = recorded
  const past = await engine.openPast(entryPoint, op, blockHash)
  const repeated = await past.by(undefined).execute(entryPoint, op)
  if (!repeated.ok || repeated.success !== recorded.success)
    throw new CannotSimulateError('it does not end as it did then')
  const target = createEntryPoint(entryPoint.version, entryPoint.address, () => [fork])
  const coming = past.by(fork)
  const signed = await asSigned(context, target, recorded, past)
  const fresh = await withNewLimits(context, target, recorded, coming)
  return {
    isNewest: past.isNewest,
    failure: signed.failure,
    // A call that reverts has no limits to be found: it is charged as it is.
    gas: fresh.gas ?? (recorded.success ? undefined : signed.gas),
    maxCost: fresh.maxCost ?? (recorded.success ? undefined : target.requiredPrefund(op)),
  }
}

/** Why the operation fails with its own limits, or else the gas that it is charged for. */
async function asSigned(
  { definition, dataPrice, fork }: RehearsalContext,
  entryPoint: EntryPoint,
  { operation: op, success, sharedBy }: RecordedOperation,
  past: IncludedOperation,
): Promise<{ readonly failure?: PurserError; readonly gas?: bigint | undefined }> {
  const run = await past.by(fork).execute(entryPoint, op)
  if (!run.ok) return { failure: toOperationError(run.failure, op) }
  if (success && !run.success) {
    const reason = describeRevert(run.revertData) ?? 'no reason given'
    return { failure: new ExecutionRevertedError(reason, run.revertData) }
  }
  const { verificationGasUsed, contextSize } = run.validation
  const required = preVerificationGas(entryPoint, op, {
    ...bundleCharges(definition),
    bundleSize: sharedBy,
    verificationGasUsed,
    executionCharge: entryPoint.leastExecutionCharge(op),
    contextSize,
    before: await past.before(),
    dataGas: dataGas(entryPoint, { op, fees: op, bundleSize: sharedBy }, dataPrice),
  })
  if (op.preVerificationGas < required)
    return { failure: new PreVerificationGasTooLowError(op.preVerificationGas, required) }
  const unused = op.preVerificationGas - required
  return { gas: run.actualGasUsed && run.actualGasUsed - greatest(unused, 0n) }
}

/** The charge for the operation with the limits of a new estimate. */
async function withNewLimits(
  { node, definition, advice, dataPrice, ofApp }: RehearsalContext,
  entryPoint: EntryPoint,
  { operation: op, sharedBy }: RecordedOperation,
  engine: ReturnType<IncludedOperation['by']>,
): Promise<Pick<RehearsedOperation, 'gas' | 'maxCost'>> {
  const draft = {
    ...op,
    callGasLimit: undefined,
    verificationGasLimit: undefined,
    preVerificationGas: undefined,
    paymasterVerificationGasLimit: undefined,
  }
  const context = { node, engine, definition, advice, dataPrice }
  const share = expectedShare(definition, sharedBy)
  const onChain: Estimate = (...asked) => estimateOperation({ ...context, ...share }, ...asked)
  try {
    const estimate = await ofApp(onChain)(entryPoint, draft)
    const limited: Operation = {
      ...op,
      callGasLimit: estimate.callGasLimit,
      verificationGasLimit: estimate.verificationGasLimit,
      preVerificationGas: estimate.preVerificationGas,
      paymasterVerificationGasLimit: estimate.paymasterVerificationGasLimit ?? 0n,
      paymasterPostOpGasLimit: estimate.paymasterPostOpGasLimit ?? 0n,
    }
    const run = await engine.execute(entryPoint, limited)
    if (!run.ok || !run.success) return { gas: undefined, maxCost: undefined }
    return { gas: run.actualGasUsed, maxCost: entryPoint.requiredPrefund(limited) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { gas: undefined, maxCost: undefined }
  }
}

/** Whether it says something about the operation: an engine that gives up, or a node that is away, does not. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof PurserError) || error instanceof CannotSimulateError) return false
  return error.status < 500 && error.status !== 429
}
