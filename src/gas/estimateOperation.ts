import type { Hex } from 'viem'
import { greatest, smallest } from '../base/bigints.js'
import { ExecutionRevertedError, OperationLimitError } from '../base/errors/operationErrors.js'
import type { Requester } from '../base/requester.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { StateOverride } from '../chain/ethCall.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { mostBundleGas } from '../erc4337/bundleGas.js'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Fees } from '../erc4337/fees.js'
import type { StateBefore } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import { requireDelegation } from '../simulation/authorization.js'
import type { Engine, GasBounds, GasMeasurement } from '../simulation/engine.js'
import { describeFailure, toOperationError } from '../simulation/operationFailure.js'
import { estimatedDataGas } from './dataGas.js'
import type { DataPrice } from './dataPrice.js'
import { widestOperation } from './placeholder.js'
import { type ExpectedShare, preVerificationGas } from './preVerificationGas.js'

type EstimateContext = {
  readonly node: NodeClient
  readonly engine: Pick<Engine, 'measure'>
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxBundleGas' | 'maxVerificationGas'>
  /** The fee advice at the current head. */
  readonly advice: FeeAdvice
  /** The price of data at the same head; absent on a chain that has none. */
  readonly dataPrice?: DataPrice | undefined
  /** The fewest and the most operations in a bundle by other estimates of the last minutes; absent where there are none. */
  readonly otherSizes?: { readonly fewest: number; readonly most: number } | undefined
} & ExpectedShare

/** For whom an operation is estimated, and on what state. */
export type EstimateOptions = {
  /** The party for which it is run; undefined = the service itself. */
  readonly requester: Requester | undefined
  readonly override?: StateOverride | undefined
}

/** An estimate with the advice, prices and sizes that a chain has now. */
export type Estimating = (
  entryPoint: EntryPoint,
  draft: Draft,
  options: EstimateOptions,
) => Promise<GasEstimate>

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
 * - verificationGasLimit: found by search, with a margin for a real signature (see `withHeadroom`), at least
 *   the gas used plus 4,000 (LIM-030). In v0.6 it also covers postOp, and makes the prefund cover
 *   whatever may be charged (see `EntryPointContract.mostCharged`).
 * - Limits of a paymaster (v0.7 and later): the draft's, else found by search; those of verification
 *   then have 4,000 more. A verification limit of 0, with which none can pay, counts as unset. A postOp
 *   limit above 0 is what every run has: paymasters compare it with their data.
 * - preVerificationGas: for the widest operation that may come of the draft (see `widestOperation`), and for
 *   a data fee that rises while the operation is signed and waits (see `estimatedDataGas`).
 *
 * The signature need only have its final length: a wrong one is no error, and none at all is for accounts
 * that ask for none. Neither is lack of money to pay for gas. The search runs with real fees, so a sender that pays its prefund is
 * measured paying; only the call of one that need not pay is measured without fees (D-986).
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
  const { bundleSize, otherSizes, hasBeneficiary, chargedGas, calldataFloor } = context
  const fees = chooseFees(draft, context.advice.standard)
  const hasPaymasterLimits = entryPoint.hasPaymasterLimits && draft.paymaster !== undefined
  const bounds = {
    call: mostBundleGas(entryPoint, definition.maxBundleGas),
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
  // An operation that bids nothing itself is granted to be paid for.
  const paid = fees.maxFeePerGas === 0n ? context.advice.standard : fees
  const shareOf =
    (size: number) =>
    (
      limited: Operation,
      verificationGasUsed: bigint,
      contextSize: number,
      before?: StateBefore | undefined,
    ) =>
      preVerificationGas(entryPoint, widest, {
        bundleSize: size,
        hasBeneficiary,
        chargedGas,
        calldataFloor,
        limited: { ...limited, signature: widest.signature },
        verificationGasUsed,
        executionCharge: entryPoint.leastExecutionCharge(limited),
        contextSize,
        before,
        dataGas: estimatedDataGas(
          entryPoint,
          { op: limited, fees: paid, bundleSize: size },
          context.dataPrice,
        ),
      })

  const op = { ...filled, preVerificationGas: shareOf(bundleSize)(filled, 0n, 0) }
  const measured = await measuredGas(context, entryPoint, op, bounds, override)
  const { callGasLimit, verificationGasUsed, contextSize, before, validAfter, validUntil } =
    measured
  const isByLimit = chargedGas !== 'used'
  const slack = isByLimit ? LIMIT_CHARGE_SLACK : VALIDATION_GAS_SLACK
  const leastUsed = greatest(verificationGasUsed - slack, 0n)
  const found = hasPaymasterLimits
    ? separateLimits(measured, draft, bounds.verification)
    : {
        verificationGasLimit: sharedLimit(entryPoint, measured, op, bounds.verification),
        paymasterVerificationGasLimit: draft.paymasterVerificationGasLimit,
        paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit,
      }
  const limits = withCreation(entryPoint, draft, before, found, bounds.verification)
  const limited: Operation = {
    ...filled,
    callGasLimit,
    verificationGasLimit: limits.verificationGasLimit,
    paymasterVerificationGasLimit: limits.paymasterVerificationGasLimit ?? 0n,
    paymasterPostOpGasLimit: limits.paymasterPostOpGasLimit ?? 0n,
  }
  const share = (size: number) => shareOf(size)(limited, leastUsed, contextSize, before)
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

/** What the engine measures; throws for an operation that is refused, or whose call reverts. */
async function measuredGas(
  { node, engine }: Pick<EstimateContext, 'node' | 'engine'>,
  entryPoint: EntryPoint,
  op: Operation,
  bounds: GasBounds,
  override: StateOverride | undefined,
): Promise<GasMeasurement> {
  const measured = await engine.measure(entryPoint, op, bounds, override)
  if (measured.outcome === 'measured') return measured.gas
  if (measured.outcome === 'refused')
    throw toOperationError(await describeFailure(node, entryPoint, op, measured.failure), op)
  const reason = describeRevert(measured.revertData) ?? 'no reason given'
  throw new ExecutionRevertedError(reason, measured.revertData)
}

/**
 * Limits with the gas by which the creation of the sender costs more than was measured: there it had the wei of its
 * prefund, so that its address was no new one. With some for the calls around it, which keep one part in 64 each.
 */
function withCreation(
  entryPoint: EntryPoint,
  { factory }: Draft,
  before: StateBefore | undefined,
  limits: VerificationLimits,
  ceiling: bigint,
): VerificationLimits {
  const isNew = (before?.authority ?? 'absent') === 'absent'
  if (factory === undefined || factory === DELEGATION_MARKER || !isNew) return limits
  const creation = BigInt(Math.ceil(entryPoint.gas().newAccount * 1.1))
  const { verificationGasLimit } = limits
  return { ...limits, verificationGasLimit: smallest(verificationGasLimit + creation, ceiling) }
}

type VerificationLimits = Pick<
  GasEstimate,
  'verificationGasLimit' | 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'
>

/** Bytes of context that an estimate allows for at least where postOp is called; a token paymaster's has 200. */
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
  const contextSize = postOpGasLimit > 0n ? Math.max(gas.contextSize, ESTIMATED_CONTEXT) : 0
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

function requireSignatureBound({ signature }: Draft): void {
  if ((signature.length - 2) / 2 > MAX_SIGNATURE_BYTES) {
    throw new OperationLimitError('signature', `exceeds ${MAX_SIGNATURE_BYTES} bytes`)
  }
}

/** The answer of eth_estimateUserOperationGas, before a dialect writes it. Limits in gas, fees in wei per gas. */
export type GasEstimate = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /**
   * The least that an estimate of the last minutes may have had, for a larger bundle, and the most, for a smaller
   * one; absent where all estimates use one size.
   */
  readonly preVerificationBounds?: PreVerificationBounds | undefined
  /** Present when the operation has a paymaster and the version has the field. */
  readonly paymasterVerificationGasLimit: bigint | undefined
  readonly paymasterPostOpGasLimit: bigint | undefined
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Unix seconds; 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
}

type PreVerificationBounds = { readonly least: bigint; readonly most: bigint }

/** The bounds of what estimates of the last minutes may have had; both its own where there are no others. */
export function preVerificationBounds(
  estimate: Pick<GasEstimate, 'preVerificationGas' | 'preVerificationBounds'>,
): PreVerificationBounds {
  const { preVerificationGas: gas, preVerificationBounds: bounds } = estimate
  return bounds ?? { least: gas, most: gas }
}

/** Percent of what was measured. A Nexus needed 4.9 % more, a batched session router 6.9 %. */
const HEADROOM_PERCENT = 15n
/** Gas; more than LIM-030 asks for. */
const LEAST_HEADROOM = 10_000n
/**
 * Gas of one signer of several: recovery, a cold slot and the work around them. A Safe looks at no
 * further signature after a wrong one, and a dummy's first is wrong.
 */
const SIGNER_GAS = 8_000n
const SIGNER_BYTES = 65

/**
 * A verificationGasLimit (gas) for a real signature, of the one that a dummy `signature` needed: a wrong
 * signature may end a validation early. Never above `ceiling`. No EntryPoint charges for unused
 * verification gas; it only counts in the prefund.
 */
export function withHeadroom(measured: bigint, signature: Hex, ceiling: bigint): bigint {
  const share = (measured * HEADROOM_PERCENT) / 100n
  const signers = Math.floor((signature.length - 2) / 2 / SIGNER_BYTES)
  const further = SIGNER_GAS * BigInt(Math.max(signers - 1, 0))
  const ample =
    measured + greatest(share, LEAST_HEADROOM) + (further < measured ? further : measured)
  return ample < ceiling ? ample : ceiling
}

/** The least headroom (gas) in an estimated verificationGasLimit: a limit lower by it still covers what was measured, unless the estimate is the ceiling. */
export function headroomIn(limit: bigint): bigint {
  return (limit * HEADROOM_PERCENT) / (100n + HEADROOM_PERCENT)
}
