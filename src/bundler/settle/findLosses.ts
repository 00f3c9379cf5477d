import type { Hex } from 'viem'
import { smallest, sum } from '../../base/bigints.js'
import { CannotSimulateError, SimulationLostError } from '../../base/errors/simulationErrors.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Authorization } from '../../erc4337/operation.js'
import type { EntryPoint, OperationOutcome } from '../../erc4337/entryPoint.js'
import type { EvmAuthorization } from '../../evm/index.js'
import { bundleCharges, sharedGas } from '../../gas/preVerificationGas.js'
import { operationsInBundle, type StoredOperation } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { bundleGasLimit, carriedOperation } from '../fees/pricedOperation.js'
import { ownBundleTransaction } from '../outbox/bundles.js'

/** A mined bundle of ours whose gas cost more than its operations paid. */
export type Loss = {
  /** wei that its gas cost above what was charged or granted for its operations */
  readonly wei: bigint
  /** The operations that caused it; none where that is not known. */
  readonly causes: readonly Hex[]
}

/**
 * The losses among these receipts, by transaction. Every bundle is sent with fees at which it pays for its gas whatever
 * happens, so a loss is gas that nobody is charged for. A data fee is left out: L1's price may rise before
 * the bundle is mined.
 */
export async function findLosses(
  context: BundlingContext,
  receipts: readonly TransactionReceipt[],
): Promise<ReadonlyMap<Hex, Loss>> {
  const { database, definition, entryPoints } = context
  const losses = new Map<Hex, Loss>()
  for (const receipt of receipts) {
    const { transactionHash, gasUsed, gasUsedForL1 = 0n, effectiveGasPrice } = receipt
    const entryPoint = entryPoints.find(({ address }) => address === receipt.to)
    if (entryPoint === undefined || receipt.status !== 1) continue
    const outcomes = entryPoint.decodeOutcomes(receipt.logs)
    const charged = sum(outcomes.map(({ actualGasCost }) => actualGasCost))
    const cost = (gasUsed - gasUsedForL1) * effectiveGasPrice
    if (charged >= cost) continue
    const own = await ownBundleTransaction(database, definition.chainId, transactionHash)
    if (own === undefined) continue
    const stored = await operationsInBundle(database, own.bundleId)
    const granted = sum(outcomes.map((outcome) => grantedFor(outcome, stored, effectiveGasPrice)))
    const wei = cost - charged - granted
    if (wei <= 0n) continue
    const bundle = { entryPoint, receipt, outcomes, stored }
    losses.set(transactionHash, { wei, causes: await findCauses(context, bundle) })
  }
  return losses
}

/** wei that are granted for an operation without fees; 0 for one that the EntryPoint charged. */
function grantedFor(
  { userOpHash, actualGasCost, actualGasUsed }: OperationOutcome,
  stored: readonly StoredOperation[],
  price: bigint,
): bigint {
  const bid = stored.find(({ hash }) => hash === userOpHash)?.bid
  if (actualGasCost > 0n || bid === undefined) return 0n
  return actualGasUsed * smallest(price, bid.maxFeePerGas)
}

type LosingBundle = {
  readonly entryPoint: EntryPoint
  readonly receipt: TransactionReceipt
  readonly outcomes: readonly OperationOutcome[]
  readonly stored: readonly StoredOperation[]
}

/**
 * The operations that caused a loss: the only one of its bundle, or those that use more gas than they are charged for when each
 * is run alone, in our EVM, before the same block. What only others made expensive is nobody's fault, and
 * where our EVM does not repeat what the chain did nobody is blamed.
 */
async function findCauses(
  { engine, definition, logger }: BundlingContext,
  { entryPoint, receipt, outcomes, stored }: LosingBundle,
): Promise<readonly Hex[]> {
  const [first, ...others] = outcomes
  if (first !== undefined && others.length === 0) return [first.userOpHash]
  const { beneficiary = receipt.from } = definition
  const shared = BigInt(sharedGas(entryPoint, bundleCharges(definition)))
  const causes: Hex[] = []
  for (const { userOpHash, success } of outcomes) {
    const op = stored.find(({ hash }) => hash === userOpHash)
    if (op === undefined) continue
    const { authorization } = op.operation
    const data = entryPoint.encodeHandleOps([op.operation], beneficiary)
    try {
      const { gasUsed, outcomes: run } = await engine.replay(entryPoint, receipt.blockHash, {
        from: receipt.from,
        data,
        gas: Number(bundleGasLimit(entryPoint, [carriedOperation(op)], data)),
        gasPrice: receipt.effectiveGasPrice,
        authorizations: authorization ? [evmAuthorization(authorization)] : [],
      })
      // Of the fixed costs an operation owes the share that it was estimated.
      const owed = BigInt(gasUsed) - shared + shared / BigInt(op.sharedBy)
      const [outcome] = run
      if (outcome?.success === success && owed > outcome.actualGasUsed + 1n) causes.push(userOpHash)
    } catch (error) {
      // The receipt would be read again for ever where a replay always takes too long.
      if (!(error instanceof CannotSimulateError || error instanceof SimulationLostError))
        throw error
      logger.warn({ op: userOpHash, reason: error.message }, 'an operation cannot be replayed')
    }
  }
  return causes
}

function evmAuthorization({ chainId, r, s, ...signed }: Authorization): EvmAuthorization {
  return { ...signed, chainId: BigInt(chainId), r: BigInt(r), s: BigInt(s) }
}
