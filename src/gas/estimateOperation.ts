import type { ChainDefinition } from '../chain/definition.js'
import type { FeeAdvice } from '../chain/feeAdvice.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Fees } from '../entrypoint/fees.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import { ExecutionRevertedError, OperationLimitError } from '../errors/operationErrors.js'
import { requireDelegation } from '../validation/authorization.js'
import type { Engine, GasMeasurement } from '../validation/engine.js'
import { mergeOverrides } from '../validation/mergeOverrides.js'
import { toOperationError } from '../validation/operationFailure.js'
import type { GasEstimate } from './gasEstimate.js'
import { fundPayer } from './payerFunds.js'
import { type BundleShare, preVerificationGas } from './preVerificationGas.js'
import { withHeadroom } from './verificationHeadroom.js'
import { widestOperation } from './widestOperation.js'

export type EstimateContext = {
  readonly node: NodeClient
  readonly engine: Engine
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxBundleGas' | 'maxVerificationGas'>
  /** Of the current head. */
  readonly advice: FeeAdvice
} & Omit<BundleShare, 'verificationGasUsed'>

/** LIM-030: what a verification limit must exceed the gas used by for other bundlers to take it. */
const VALIDATION_GAS_SLACK = 4000n
/** No known signature scheme comes near; it bounds what a validation is asked to read. */
const MAX_SIGNATURE_BYTES = 8192

/**
 * Gas limits that do and a sufficient preVerificationGas for `draft`, with fees to pay (`standard` advice
 * where the draft has none). Limits in the draft are not looked at.
 *
 * - callGasLimit: found by search (see `Engine.measure`), nothing added.
 * - verificationGasLimit: found by search, with room for a real signature (see `withHeadroom`), at least
 *   the gas used plus 4,000 (LIM-030). In v0.6 it also covers postOp.
 * - Limits of a paymaster (v0.7 and later): the draft's, else found by search; those of verification
 *   then have 4,000 more. A verification limit of 0, with which none can pay, counts as unset. A postOp
 *   limit above 0 is what every run has: paymasters compare it with their data.
 * - preVerificationGas: for the widest operation that may come of the draft (see `widestOperation`).
 *
 * The signature need only have its final length: a wrong one is no error. Neither is lack of money to
 * pay for gas. The search runs with real fees, so a sender that pays its prefund is measured paying.
 * `override` is the caller's and wins over what we pretend, slot by slot; only the EntryPoint's code
 * keeps its probe, which then runs on the caller's code.
 *
 * An EIP-7702 authorization counts as if it were signed and applied (ERC-7769).
 *
 * Throws OperationLimitError for a signature without usable length or an authorization that never fits, an operation error when the
 * EntryPoint refuses, ExecutionRevertedError when the call reverts.
 */
export async function estimateOperation(
  context: EstimateContext,
  entryPoint: EntryPoint,
  draft: Draft,
  override?: StateOverride,
): Promise<GasEstimate> {
  const { definition } = context
  requireSignatureLength(draft)
  requireDelegation(entryPoint.version, draft, definition.chainId)
  const { bundleSize, dataGas, beneficiaryGas, engine } = context
  const fees = chooseFees(draft, context.advice.standard)
  const hasPaymasterLimits = entryPoint.hasPaymasterLimits && draft.paymaster !== undefined
  const bounds = {
    call: definition.maxBundleGas,
    verification: definition.maxVerificationGas,
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
  const share = (verificationGasUsed: bigint) =>
    preVerificationGas(entryPoint, widest, {
      bundleSize,
      verificationGasUsed,
      dataGas,
      beneficiaryGas,
    })

  const op = { ...filled, preVerificationGas: share(0n) }
  const funds = await fundPayer(context.node, entryPoint, op)
  const pretended = override ? mergeOverrides(funds, override) : funds
  const measured = await engine.measure(entryPoint, op, bounds, pretended)
  if (measured.outcome === 'refused') throw toOperationError(measured.failure, op)
  if (measured.outcome === 'reverted') {
    const reason = describeRevert(measured.revertData) ?? 'no reason given'
    throw new ExecutionRevertedError(reason, measured.revertData)
  }

  const { callGasLimit, verificationGasUsed, validAfter, validUntil } = measured.gas
  return {
    callGasLimit,
    preVerificationGas: share(atLeast(verificationGasUsed - VALIDATION_GAS_SLACK, 0n)),
    ...(hasPaymasterLimits
      ? separateLimits(measured.gas, draft, bounds.verification)
      : sharedLimits(measured.gas, draft, bounds.verification)),
    ...fees,
    validAfter,
    validUntil,
  }
}

type VerificationLimits = Pick<
  GasEstimate,
  'verificationGasLimit' | 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'
>

function sharedLimits(gas: GasMeasurement, draft: Draft, ceiling: bigint): VerificationLimits {
  const { paymasterVerificationGasLimit, paymasterPostOpGasLimit } = draft
  const withSlack = atLeast(
    withHeadroom(gas.verificationGasLimit, draft.signature, ceiling),
    gas.verificationGasUsed + VALIDATION_GAS_SLACK,
  )
  const verificationGasLimit = atLeast(withSlack, gas.postOpGasLimit)
  return { verificationGasLimit, paymasterVerificationGasLimit, paymasterPostOpGasLimit }
}

/** How much of the gas each used is known for both together only, so the slack goes on the limits. */
function separateLimits(gas: GasMeasurement, draft: Draft, ceiling: bigint): VerificationLimits {
  return {
    verificationGasLimit: withHeadroom(gas.verificationGasLimit, draft.signature, ceiling),
    paymasterVerificationGasLimit:
      draft.paymasterVerificationGasLimit ||
      gas.paymasterVerificationGasLimit + VALIDATION_GAS_SLACK,
    paymasterPostOpGasLimit: draft.paymasterPostOpGasLimit ?? gas.postOpGasLimit,
  }
}

/** A fee the draft lacks is advised; an advised tip never exceeds a given maximum. */
function chooseFees(draft: Draft, { maxFeePerGas, maxPriorityFeePerGas }: Fees): Fees {
  const { maxFeePerGas: max, maxPriorityFeePerGas: tip } = draft
  if (max === undefined) {
    const given = tip ?? maxPriorityFeePerGas
    return {
      maxFeePerGas: maxFeePerGas - maxPriorityFeePerGas + given,
      maxPriorityFeePerGas: given,
    }
  }
  const advised = maxPriorityFeePerGas < max ? maxPriorityFeePerGas : max
  return { maxFeePerGas: max, maxPriorityFeePerGas: tip ?? advised }
}

function requireSignatureLength({ signature }: Draft): void {
  const bytes = (signature.length - 2) / 2
  if (bytes === 0) {
    throw new OperationLimitError(
      'signature',
      'is empty; send a dummy signature as long as the real one, its length costs gas',
    )
  }
  if (bytes > MAX_SIGNATURE_BYTES) {
    throw new OperationLimitError('signature', `exceeds ${MAX_SIGNATURE_BYTES} bytes`)
  }
}

function atLeast(value: bigint, least: bigint): bigint {
  return value > least ? value : least
}
