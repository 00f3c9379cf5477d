import type { Hex } from 'viem'
import { greatest, smallest } from '../base/bigints.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { ChargedGas } from '../chain/definition/chargedGas.js'
import { COLD_BENEFICIARY } from '../entrypoint/bundleGas.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { type CarriedOperation, contextGas, copyingGas } from './copyingGas.js'
import type { DataGas } from './dataGas.js'
import { leastCharged } from './leastCharged.js'

const TRANSACTION_GAS = 21_000
/** EIP-2028 and EIP-7623: a byte is one token when zero and four when not. */
const GAS_PER_TOKEN = 4
const FLOOR_GAS_PER_TOKEN = 10
/**
 * handleOps around its operations: 4 bytes of selector, the words for the offset of the array, the
 * beneficiary and the length, 26 non-zero bytes and 74 zero bytes in all when no byte of the
 * beneficiary is zero.
 */
const ENVELOPE_TOKENS = 26 * 4 + 74
/** An operation's offset in the array has up to three non-zero bytes, alone it has one. */
const OFFSET_TOKENS = 2 * 3
/** EIP-7702: PER_EMPTY_ACCOUNT_COST of each authorization. */
const AUTHORIZATION_GAS = 25_000
/**
 * The refund on which `overhead.perOp` counts where a sender pays: its deposit in the EntryPoint goes from
 * nothing to the prefund and back, before it gets the rest of the prefund.
 */
const DEPOSIT_REFUND = 19_900n
/** Gas that is metered at least with such a refund: the deposit from nothing to the prefund, the rest. */
export const METERED_WITH_REFUND = 35_000n

/** What a chain charges for a bundle beside the work of its operations. */
export type BundleCharges = {
  /** Gas by which it costs more to pay the beneficiary than the executor. */
  readonly beneficiaryGas: number
  /** Absent = the gas used. */
  readonly chargedGas?: ChargedGas | undefined
  /** Whether the floor price of calldata (EIP-7623) binds there; absent = yes. */
  readonly calldataFloor?: boolean | undefined
}

/** The part of a bundle's fixed costs that operations of a chain owe. */
export type ExpectedShare = BundleCharges & {
  /** The number of operations that share a bundle's fixed costs, at least 1. */
  readonly bundleSize: number
}

export type BundleShare = ExpectedShare & {
  /** Gas that validation is known to use, which counts towards the EIP-7623 floor; 0 is always safe. */
  readonly verificationGasUsed: bigint
  /** Gas that is charged for execution whatever it uses (`leastExecutionCharge`), which counts as well; absent = 0. */
  readonly executionCharge?: bigint | undefined
  /** Bytes of the context that the paymaster returned; 0 without paymaster. */
  readonly contextSize: number
  /** The operation with the limits that it will have; absent = as it is. */
  readonly limited?: Operation | undefined
  /** Gas that repays the chain's data fee beside the gas given (`dataGas`); absent where there is none. */
  readonly dataGas?: DataGas | undefined
}

/** The parts of a chain's definition that say what it charges for a bundle. */
export type ChargingChain = Pick<ChainDefinition, 'beneficiary' | 'chargedGas' | 'calldataFloor'>

/** What a bundle costs more where a beneficiary is configured, and what the chain charges it for. */
export function bundleCharges(definition: ChargingChain): BundleCharges {
  const { beneficiary, chargedGas, calldataFloor } = definition
  const beneficiaryGas = beneficiary === undefined ? 0 : COLD_BENEFICIARY
  return { beneficiaryGas, chargedGas, calldataFloor }
}

/** The share that operations of this chain owe of a bundle of so many. */
export function expectedShare(definition: ChargingChain, bundleSize: number): ExpectedShare {
  return { bundleSize, ...bundleCharges(definition) }
}

type OperationEncoder = Pick<EntryPoint, 'overhead' | 'encodeOperation' | 'bundleGas'>

/**
 * Gas that `op` causes in a bundle of `bundleSize` operations and that the EntryPoint cannot meter:
 * its calldata, the EntryPoint's own work on it, and its share of what a bundle costs anyway (21,000,
 * fixed work, envelope). Where the transaction would fall to the calldata floor of EIP-7623 it is
 * the share of that, less the gas that the operation is sure to pay for as well: that of validation, and the part of its
 * call's limit that is charged even if the call uses nothing. Where refunds would
 * exceed the cap of EIP-3529 it is the share of four fifths of the gas before refunds (`cappedGas`). Where the chain
 * charges for a part of the gas limit at least, it is the share of that, less the same gas. What the
 * chain takes for data beside all gas comes on top.
 */
export function preVerificationGas(
  entryPoint: OperationEncoder,
  op: Operation,
  share: BundleShare,
): bigint {
  const { bundleSize, beneficiaryGas, chargedGas = 'used', limited = op } = share
  const { verificationGasUsed, executionCharge = 0n, contextSize, dataGas } = share
  const { calldataFloor = true } = share
  const encoded = entryPoint.encodeOperation(op)
  const tokens = countTokens(encoded) + OFFSET_TOKENS

  const fixed = entryPoint.overhead.fixed + beneficiaryGas
  const shared = TRANSACTION_GAS + fixed + ENVELOPE_TOKENS * GAS_PER_TOKEN
  const copied = { op, contextSize, encoded }
  const perOperation =
    workGas(entryPoint, op, chargedGas) +
    copyingGas(entryPoint.overhead, [copied]) +
    tokens * GAS_PER_TOKEN
  const standard = Math.ceil(shared / bundleSize) + perOperation

  const sharedFloor = TRANSACTION_GAS + ENVELOPE_TOKENS * FLOOR_GAS_PER_TOKEN
  const certain = verificationGasUsed + executionCharge
  const floor = calldataFloor
    ? Math.ceil(sharedFloor / bundleSize) + tokens * FLOOR_GAS_PER_TOKEN - Number(certain)
    : 0

  const capped = Math.ceil((4 * standard - Number(cappedGas(op, verificationGasUsed))) / 5)

  const least = leastCharged(
    chargedGas,
    BigInt(Math.ceil((shared + COLD_BENEFICIARY) / bundleSize) + tokens * GAS_PER_TOKEN) +
      entryPoint.bundleGas(limited) +
      contextGas(entryPoint, [{ op, contextSize }]) +
      BigInt(op.authorization === undefined ? 0 : AUTHORIZATION_GAS),
  )
  const charged = Number(least - certain)

  const gas = BigInt(Math.max(standard, floor, capped, charged))
  return dataGas ? gas + dataGas(gas) : gas
}

/** The highest cost of a bundle's transaction. */
export type BundleCost = {
  /** Gas that the EntryPoint does not meter, less the refunds of its own work if no cap binds. */
  readonly unmetered: bigint
  /** The least gas of the transaction (EIP-7623); 0 where the chain knows none. */
  readonly floor: bigint
}

/** The cost of a whole bundle with `data` as its calldata, apart from the least that the chain charges by its gas limit. */
export function bundleCost(
  entryPoint: OperationEncoder,
  carried: readonly CarriedOperation[],
  data: Hex,
  { beneficiaryGas, chargedGas = 'used', calldataFloor = true }: BundleCharges,
): BundleCost {
  const { overhead } = entryPoint
  const tokens = countTokens(data)
  const copied = carried.map((each) => {
    return { ...each, encoded: entryPoint.encodeOperation(each.op) }
  })
  const work = carried.reduce(
    (sum, { op }) => sum + workGas(entryPoint, op, chargedGas),
    overhead.fixed + beneficiaryGas + copyingGas(overhead, copied),
  )
  return {
    unmetered: BigInt(TRANSACTION_GAS + tokens * GAS_PER_TOKEN + work),
    floor: calldataFloor ? BigInt(TRANSACTION_GAS + tokens * FLOOR_GAS_PER_TOKEN) : 0n,
  }
}

/**
 * EIP-3529 gives back at most a fifth of a transaction's gas. Of a bundle with prepaid gas P, unmetered
 * gas U, metered gas M and refunds R, the charge P + M then covers the cost when it covers four fifths of
 * U + R + M, so when 5 P + (M - 4 R) is at least 4 U. This is the operation's part of M - 4 R, with or
 * without a refund, at the least metered gas.
 */
export function cappedGas(op: Pick<Operation, 'paymaster'>, metered: bigint): bigint {
  return smallest(metered, greatest(metered, METERED_WITH_REFUND) - 4n * refundOf(op))
}

/** The highest refund that the EntryPoint's own work on the operation may bring. */
export function refundOf({ paymaster }: Pick<Operation, 'paymaster'>): bigint {
  return paymaster === undefined ? DEPOSIT_REFUND : 0n
}

/** Gas for the EntryPoint's work on one operation that no limit meters, without calldata and copying. */
function workGas({ overhead }: OperationEncoder, op: Operation, chargedGas: ChargedGas): number {
  const authorization = op.authorization === undefined ? 0 : AUTHORIZATION_GAS
  // Whether an account or a paymaster returns a range is theirs to decide with each validation.
  const ranges = overhead.range * (op.paymaster === undefined ? 1 : 2)
  const refund = chargedGas === 'used' ? 0 : Number(refundOf(op))
  return overhead.perOp + ranges + authorization + refund
}

function countTokens(hex: Hex): number {
  let tokens = 0
  for (let at = 2; at < hex.length; at += 2) {
    const zero = hex.charCodeAt(at) === ZERO_DIGIT && hex.charCodeAt(at + 1) === ZERO_DIGIT
    tokens += zero ? 1 : 4
  }
  return tokens
}

const ZERO_DIGIT = 0x30
