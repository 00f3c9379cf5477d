import { greatest, smallest } from '../base/bigints.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Fees } from '../entrypoint/fees.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import { ExecutionRevertedError, OperationLimitError } from '../errors/operationErrors.js'
import { requireDelegation } from '../validation/authorization.js'
import { describeFailure } from '../validation/describeFailure.js'
import type { Engine, GasMeasurement } from '../validation/engine.js'
import { toOperationError } from '../validation/operationFailure.js'
import type { BundleSizes } from './bundleSizes.js'
import { estimatedDataGas } from './dataGas.js'
import type { DataPrice } from './dataPrice.js'
import type { GasEstimate } from './gasEstimate.js'
import { type ExpectedShare, preVerificationGas } from './preVerificationGas.js'
import { widestOperation } from './widestOperation.js'
import { withHeadroom } from './withHeadroom.js'

export type EstimateContext = {
  readonly node: NodeClient
  readonly engine: Engine
  readonly definition: Pick<
    ChainDefinition,
    'chainId' | 'maxBundleGas' | 'maxVerificationGas' | 'transactionType'
  >
  /** The fee advice at the current head. */
  readonly advice: FeeAdvice
  /** The price of data at the same head; absent on a chain that has none. */
  readonly dataPrice?: DataPrice | undefined
  /** The sizes that other estimates of the last minutes may have reckoned with; absent where there are none. */
  readonly otherSizes?: Pick<BundleSizes, 'fewest' | 'most'> | undefined
} & ExpectedShare

/** LIM-030: gas by which a verification limit must exceed the gas used, or other bundlers refuse it. */
export const VALIDATION_GAS_SLACK = 4000n
/**
 * Gas by which admission may measure less than an estimate, where the least charge follows from gas limits. The search runs with the
 * preVerificationGas of its ceilings there, some millions too much, so that a sender may pay a prefund in it that its deposit
 * covers later: 9,130 gas for v0.6 (48,202 instead of 39,072), 8,730 for v0.8. Elsewhere the search pays when the operation does.
 */
const LIMIT_CHARGE_SLACK = 12_000n
/** Far above any known signature scheme; it bounds the data that a validation reads. */
const MAX_SIGNATURE_BYTES = 8192

/**
 * Sufficient gas limits and preVerificationGas for `draft`, with fees to pay (`standard` advice where
 * the draft has none). Limits in the draft are ignored, but where this says otherwise.
 *
 * - callGasLimit: found by search (see `Engine.measure`), nothing added; the draft's own where the search would
 *   end a little above it and it suffices, since a client may keep what an earlier search found.
 * - verificationGasLimit: found by search, with room for a real signature (see `withHeadroom`), at least
 *   the gas used plus 4,000 (LIM-030). In v0.6 it also covers postOp, and makes the prefund cover
 *   whatever may be charged (see `EntryPointContract.mostCharged`).
 * - Limits of a paymaster (v0.7 and later): the draft's, else found by search; those of verification
 *   then have 4,000 more. A verification limit of 0, with which none can pay, counts as unset. A postOp
 *   limit above 0 is what every run has: paymasters compare it with their data.
 * - preVerificationGas: for the widest operation that may come of the draft (see `widestOperation`), and for
 *   a data fee that rises while the operation is signed and waits (see `estimatedDataGas`).
 *
 * The signature need only have its final length: a wrong one is no error, and none at all is for accounts
 * that ask for none. Neither is lack of money to pay for gas. The search runs with real fees, so a sender that pays its prefund is measured paying.
 * `override` comes from the caller and wins over our own overrides, slot by slot; only the EntryPoint's
 * code keeps its probe, which then runs on the caller's code.
 *
 * An EIP-7702 authorization counts as if it were signed and applied (ERC-7769).
 *
 * @throws OperationLimitError for a signature that is too long or an authorization that never fits
 * @throws an operation error when the EntryPoint refuses
 * @throws ExecutionRevertedError when the call reverts
 */
export async function estimateOperation(
  context: EstimateContext,
  entryPoint: EntryPoint,
  draft: Draft,
  override?: StateOverride,
): Promise<GasEstimate> {
  const { definition } = context
  requireSignatureBound(draft)
  requireDelegation(entryPoint.version, draft, definition)
  const { bundleSize, otherSizes, beneficiaryGas, chargedGas, calldataFloor, engine } = context
  const fees = chooseFees(draft, context.advice.standard)
  const hasPaymasterLimits = entryPoint.hasPaymasterLimits && draft.paymaster !== undefined
  const bounds = {
    call: definition.maxBundleGas,
    verification: definition.maxVerificationGas,
    ownCall: draft.callGasLimit || undefined,
    postOp: (hasPaymasterLimits && draft.paymasterPostOpGasLimit) || undefined,
  }
  const unset = hasPaymasterLimits ? bounds.verification : 0n
  const filled: Operation = {
    ...draft,
    ...fees,
    callGasLimit: bounds.call,
    verificationGasLimit: bounds.verification,
    preVerificationGas: 0n,
    paymasterVerificationGasLimit: draft.paymasterVerificationGasLimit || unset,
    paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit ?? unset,
  }
  const widest = widestOperation(filled)
  const paid = isFree(fees) ? context.advice.standard : fees
  const shareOf =
    (size: number) => (limited: Operation, verificationGasUsed: bigint, contextSize: number) =>
      preVerificationGas(entryPoint, widest, {
        bundleSize: size,
        beneficiaryGas,
        chargedGas,
        calldataFloor,
        limited: { ...limited, signature: widest.signature },
        verificationGasUsed,
        executionCharge: entryPoint.leastExecutionCharge(limited),
        contextSize,
        dataGas: estimatedDataGas(
          entryPoint,
          { op: limited, fees: paid, bundleSize: size },
          context.dataPrice,
        ),
      })

  const op = { ...filled, preVerificationGas: shareOf(bundleSize)(filled, 0n, 0) }
  const measured = await engine.measure(entryPoint, op, bounds, override)
  if (measured.outcome === 'refused')
    throw toOperationError(
      await describeFailure(context.node, entryPoint, op, measured.failure),
      op,
    )
  if (measured.outcome === 'reverted') {
    const reason = describeRevert(measured.revertData) ?? 'no reason given'
    throw new ExecutionRevertedError(reason, measured.revertData)
  }

  const { callGasLimit, verificationGasUsed, contextSize, validAfter, validUntil } = measured.gas
  const isByLimit = (chargedGas ?? 'used') !== 'used'
  const slack = isByLimit ? LIMIT_CHARGE_SLACK : VALIDATION_GAS_SLACK
  const leastUsed = greatest(verificationGasUsed - slack, 0n)
  const limits = hasPaymasterLimits
    ? separateLimits(measured.gas, draft, bounds.verification)
    : {
        verificationGasLimit: sharedLimit(entryPoint, measured.gas, op, bounds.verification),
        paymasterVerificationGasLimit: draft.paymasterVerificationGasLimit,
        paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit,
      }
  const limited: Operation = {
    ...filled,
    callGasLimit,
    verificationGasLimit: limits.verificationGasLimit,
    paymasterVerificationGasLimit: limits.paymasterVerificationGasLimit ?? 0n,
    paymasterPostOpGasLimit: limits.paymasterPostOpGasLimit ?? 0n,
  }
  const share = (size: number) => shareOf(size)(limited, leastUsed, contextSize)
  return {
    callGasLimit,
    preVerificationGas: share(bundleSize),
    preVerificationBounds: otherSizes && {
      least: share(otherSizes.most),
      most: share(otherSizes.fewest),
    },
    ...limits,
    ...fees,
    validAfter,
    validUntil,
  }
}

type VerificationLimits = Pick<
  GasEstimate,
  'verificationGasLimit' | 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'
>

/** Bytes of context that an estimate allows for where postOp is called; a token paymaster's has 200. */
const ESTIMATED_CONTEXT = 1_024

/**
 * The limit (gas) that the account and the paymaster share (v0.6): the prefund that follows from it
 * covers whatever the EntryPoint may charge, at any price.
 */
function sharedLimit(
  entryPoint: EntryPoint,
  gas: GasMeasurement,
  draft: Operation,
  ceiling: bigint,
): bigint {
  const { callGasLimit, postOpGasLimit, verificationGasUsed } = gas
  const ample = greatest(
    withHeadroom(gas.verificationGasLimit, draft.signature, ceiling),
    verificationGasUsed + VALIDATION_GAS_SLACK,
    postOpGasLimit,
  )
  const limited = { ...draft, callGasLimit, verificationGasLimit: ample }
  const contextSize = postOpGasLimit > 0n ? ESTIMATED_CONTEXT : 0
  const mostCharged = entryPoint.mostCharged(limited, { verificationGasUsed: ample, contextSize })
  const uncovered = (mostCharged ?? 0n) - entryPoint.chargeableGas(limited)
  return smallest(ceiling, ample + greatest(uncovered, 0n))
}

/** Limits of account and paymaster; only the sum of their gas is known, so each has the whole slack. */
function separateLimits(gas: GasMeasurement, draft: Draft, ceiling: bigint): VerificationLimits {
  return {
    verificationGasLimit: withHeadroom(gas.verificationGasLimit, draft.signature, ceiling),
    paymasterVerificationGasLimit:
      draft.paymasterVerificationGasLimit ||
      gas.paymasterVerificationGasLimit + VALIDATION_GAS_SLACK,
    paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit ?? gas.postOpGasLimit,
  }
}

/** Fees of the draft, or advised ones where it has none; an advised tip never exceeds the draft's maximum. */
function chooseFees(draft: Draft, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees {
  const { maxFeePerGas: max, maxPriorityFeePerGas: tip } = draft
  if (max === undefined) {
    const chosenTip = tip ?? maxPriorityFeePerGas
    return {
      maxFeePerGas: maxFeePerGas - maxPriorityFeePerGas + chosenTip,
      maxPriorityFeePerGas: chosenTip,
    }
  }
  return { maxFeePerGas: max, maxPriorityFeePerGas: tip ?? smallest(maxPriorityFeePerGas, max) }
}

/** Whether the operation itself offers nothing, because it is granted to be paid for. */
function isFree({ maxFeePerGas }: Fees): boolean {
  return maxFeePerGas === 0n
}

function requireSignatureBound({ signature }: Draft): void {
  if ((signature.length - 2) / 2 > MAX_SIGNATURE_BYTES) {
    throw new OperationLimitError('signature', `exceeds ${MAX_SIGNATURE_BYTES} bytes`)
  }
}
