import type { Address } from 'viem'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { TimeRange } from '../entrypoint/validationData.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import { encodeLateTankData, encodeTankData, stubSignature } from './tank/tankData.js'
import { tankVerificationGas } from './tank/tankGas.js'

/** The paymaster's part of an operation, of final length, to estimate with (ERC-7677). */
export type PaymasterStub = Pick<
  Operation,
  'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit' | 'paymasterData'
> & { readonly paymaster: Address }

/** Gas. Such a tank has no postOp, but clients test for truth and take a limit of 0 for none. */
const POST_OP_GAS = 1n

/** The limits with which a tank that sponsors signs. On v0.6 neither exists. */
export function tankLimits(
  { hasPaymasterLimits }: Pick<EntryPoint, 'hasPaymasterLimits'>,
  draft: Draft,
): Pick<PaymasterStub, 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'> {
  return {
    paymasterVerificationGasLimit: hasPaymasterLimits ? tankVerificationGas(draft) : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? POST_OP_GAS : 0n,
  }
}

/**
 * The time range of a stub that is to be signed later: no byte of its end, in the year 2106, is zero, so
 * the data of any range that is signed cost no more (see `timeRange`).
 */
export const stubRange: TimeRange = { validAfter: 0, validUntil: 2 ** 32 - 1 }

/** The stub of a tank that sponsors. `isLate`: the tank signs after the account. */
export function tankStub(
  paymaster: Address,
  range: TimeRange,
  entryPoint: Pick<EntryPoint, 'hasPaymasterLimits'>,
  draft: Draft,
  isLate: boolean,
): PaymasterStub {
  return {
    paymaster,
    ...tankLimits(entryPoint, draft),
    paymasterData: (isLate ? encodeLateTankData : encodeTankData)(range, stubSignature),
  }
}

const noPaymaster = {
  paymaster: undefined,
  paymasterVerificationGasLimit: undefined,
  paymasterPostOpGasLimit: undefined,
  paymasterData: '0x',
} as const

/** The draft with this paymaster instead of its own; without a stub, one whose sender pays. */
export function withPaymaster(draft: Draft, stub: PaymasterStub | undefined): Draft {
  return {
    ...draft,
    ...(stub ?? noPaymaster),
  }
}

/**
 * The draft with a signature to estimate with. Clients may ask before anything is signed; then the
 * most common length of a signature is the best guess.
 */
export function withSignature(draft: Draft): Draft {
  return draft.signature === '0x' ? { ...draft, signature: stubSignature } : draft
}

/** The draft with the limits and fees of `gas`. */
export function complete(draft: Draft, gas: GasEstimate): Operation {
  return {
    ...draft,
    callGasLimit: gas.callGasLimit,
    verificationGasLimit: gas.verificationGasLimit,
    preVerificationGas: gas.preVerificationGas,
    maxFeePerGas: gas.maxFeePerGas,
    maxPriorityFeePerGas: gas.maxPriorityFeePerGas,
    paymasterVerificationGasLimit: gas.paymasterVerificationGasLimit ?? 0n,
    paymasterPostOpGasLimit: gas.paymasterPostOpGasLimit ?? 0n,
  }
}
