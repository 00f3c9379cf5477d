import type { Address, Hex } from 'viem'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { splitPaymasterSignature } from '../erc4337/paymasterSignature.js'
import type { TimeRange } from '../erc4337/validationData.js'
import type { GasEstimate } from '../gas/estimateOperation.js'
import { stubSignature } from '../gas/placeholder.js'
import { encodeLateTankData, encodeTankData, parseTankData } from './tank/tankData.js'
import { tankVerificationGas } from './tank/tankGas.js'

/** The paymaster's part of an operation, of final length, to estimate with (ERC-7677). */
export type PaymasterStub = Pick<
  Operation,
  'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit' | 'paymasterData'
> & { readonly paymaster: Address }

/** The parts of a draft whose length a tank's validation costs. */
export type DraftBytes = Pick<Draft, 'factoryData' | 'callData' | 'signature'>

/** A draft whose length nobody knows yet, with the most common signature. */
export const unknownDraft: DraftBytes = {
  factoryData: '0x',
  callData: '0x',
  signature: stubSignature,
}

/** Gas. Such a tank has no postOp, but clients test for truth and take a limit of 0 for none. */
const POST_OP_GAS = 1n

/** The limits with which a tank that sponsors signs. On v0.6 neither exists. */
export function tankLimits(
  entryPoint: Pick<EntryPoint, 'hasPaymasterLimits' | 'gas'>,
  draft: DraftBytes,
): Pick<PaymasterStub, 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit'> {
  const { hasPaymasterLimits } = entryPoint
  return {
    paymasterVerificationGasLimit: hasPaymasterLimits ? tankVerificationGas(entryPoint, draft) : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? POST_OP_GAS : 0n,
  }
}

/**
 * The time range of a stub that is to be signed later: no byte of its end, in the year 2105, is zero or like another, so
 * the data of any range that is signed cost no more (see `timeRange`).
 */
export const stubRange: TimeRange = { validAfter: 0, validUntil: 0xfe_dc_ba_98 }

/** The stub of a tank that sponsors. `isLate`: the tank signs after the account. */
export function tankStub(
  paymaster: Address,
  range: TimeRange,
  entryPoint: Pick<EntryPoint, 'hasPaymasterLimits' | 'gas'>,
  draft: DraftBytes,
  isLate: boolean,
): PaymasterStub {
  return {
    paymaster,
    ...tankLimits(entryPoint, draft),
    paymasterData: (isLate ? encodeLateTankData : encodeTankData)(range, stubSignature),
  }
}

/** The data of a tank as they were before it signed them, with the signature of a stub. Other data stay. */
export function unsignedTankData(data: Hex): Hex {
  const late = splitPaymasterSignature(data)
  const range = parseTankData(
    late === undefined ? data : `${late.data}${late.signature.slice(2) as Hex}`,
  )
  if (range === undefined) return data
  return (late === undefined ? encodeTankData : encodeLateTankData)(range, stubSignature)
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
export function complete(
  draft: Draft,
  gas: Omit<GasEstimate, 'validAfter' | 'validUntil'>,
): Operation {
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
