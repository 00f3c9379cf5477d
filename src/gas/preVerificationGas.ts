import type { Hex } from 'viem'
import { size } from 'viem/utils'
import { greatest, smallest } from '../base/bigints.js'
import type { ChainDefinition, ChargedGas } from '../chain/definition/chainDefinition.js'
import { type TipFloor, tipOf } from '../chain/tipFloor.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { type ForkGas, type StateBefore, unmeteredGas } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'
import { type CarriedOperation, contextGas, copyingGas } from './copyingGas.js'
import type { DataGas } from './dataGas.js'

/**
 * handleOps around its operations: 4 bytes of selector, the words for the offset of the array, the
 * beneficiary and the length, 26 non-zero bytes and 74 zero bytes in all when no byte of the
 * beneficiary is zero.
 */
const envelopeBytes: CountedBytes = { zeros: 74, others: 26 }
/** An operation's offset in the array has up to three non-zero bytes, alone it has one. */
const offsetBytes: CountedBytes = { zeros: -2, others: 2 }

/** What a chain charges for a bundle on top of executing its operations. */
export type BundleCharges = {
  /** Whether somebody else than the executor is paid, which costs more. */
  readonly hasBeneficiary: boolean
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
  /** What was in the state before; absent where nobody looked. */
  readonly before?: StateBefore | undefined
  /** The operation with the limits that it will have; absent = as it is. */
  readonly limited?: Operation | undefined
  /** Gas that repays the chain's data fee on top of the gas given (`dataGas`); absent where there is none. */
  readonly dataGas?: DataGas | undefined
}

/** The parts of a chain's definition that say what it charges for a bundle. */
export type ChargingChain = Pick<ChainDefinition, 'beneficiary' | 'chargedGas' | 'calldataFloor'>

/** What a bundle costs more where a beneficiary is configured, and what the chain charges it for. */
export function bundleCharges(definition: ChargingChain): BundleCharges {
  const { beneficiary, chargedGas, calldataFloor } = definition
  return { hasBeneficiary: beneficiary !== undefined, chargedGas, calldataFloor }
}

/** The share that operations of this chain owe of a bundle of so many. */
export function expectedShare(definition: ChargingChain, bundleSize: number): ExpectedShare {
  return { bundleSize, ...bundleCharges(definition) }
}

type OperationEncoder = Pick<EntryPoint, 'gas' | 'encodeOperation' | 'bundleGas'>

/**
 * Gas that `op` causes in a bundle of `bundleSize` operations and that the EntryPoint cannot meter:
 * its calldata, the EntryPoint's own work on it, and its share of what a bundle costs anyway (its transaction,
 * fixed work, envelope). Where the transaction would fall to the calldata floor of EIP-7623 it is
 * the share of that, less the gas that the operation is sure to pay for as well: that of validation, and the part of its
 * call's limit that is charged even if the call uses nothing. Where refunds would
 * exceed the cap of EIP-3529 it is the share of four fifths of the gas before refunds (`cappedGas`). Where the chain
 * charges for a part of the gas limit at least, it is the share of that, less the same gas. What the
 * chain charges for data in wei comes on top.
 */
export function preVerificationGas(
  entryPoint: OperationEncoder,
  op: Operation,
  share: BundleShare,
): bigint {
  const { bundleSize, chargedGas = 'used', limited = op } = share
  const { verificationGasUsed, executionCharge = 0n, contextSize, before, dataGas } = share
  const { calldataFloor = true } = share
  const gas = entryPoint.gas()
  const encoded = entryPoint.encodeOperation(op)
  const bytes = countBytes(encoded)
  const data = dataGasOf(gas, bytes) + dataGasOf(gas, offsetBytes)

  const shared = sharedGas(entryPoint, share)
  const copied = { op, contextSize, encoded, before }
  const perOperation = workGas(gas, copied, chargedGas) + copyingGas(gas.overhead, [copied]) + data
  const standard = Math.ceil(shared / bundleSize) + perOperation

  const sharedFloor = gas.transaction + floorOf(gas, envelopeBytes)
  const certain = verificationGasUsed + executionCharge
  const floor = calldataFloor
    ? Math.ceil(sharedFloor / bundleSize) +
      floorOf(gas, bytes) +
      floorOf(gas, offsetBytes) -
      Number(certain)
    : 0

  const capped = Math.ceil((4 * standard - Number(cappedGas(gas, op, verificationGasUsed))) / 5)

  const least = leastCharged(
    chargedGas,
    BigInt(Math.ceil((shared + gas.coldBeneficiary) / bundleSize) + data) +
      entryPoint.bundleGas(limited) +
      contextGas(entryPoint, [{ op, contextSize }]) +
      BigInt(unmeteredGas(gas, op, before)),
  )
  const charged = Number(least - certain)

  const most = BigInt(Math.max(standard, floor, capped, charged))
  return dataGas ? most + dataGas(most) : most
}

/** Gas that a bundle costs whatever is in it: 21,000, the EntryPoint's fixed work, the frame of handleOps. */
export function sharedGas(
  entryPoint: Pick<EntryPoint, 'gas'>,
  { hasBeneficiary }: Pick<BundleCharges, 'hasBeneficiary'>,
): number {
  const gas = entryPoint.gas()
  const fixed = gas.overhead.fixed + (hasBeneficiary ? gas.coldBeneficiary : 0)
  return gas.transaction + fixed + dataGasOf(gas, envelopeBytes)
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
  { hasBeneficiary, chargedGas = 'used', calldataFloor = true }: BundleCharges,
): BundleCost {
  const gas = entryPoint.gas()
  const { overhead } = gas
  const { standard, floor } = transactionGas(gas, data)
  const copied = carried.map((each) => {
    return { ...each, encoded: entryPoint.encodeOperation(each.op) }
  })
  const work = carried.reduce(
    (sum, each) => sum + workGas(gas, each, chargedGas),
    overhead.fixed + (hasBeneficiary ? gas.coldBeneficiary : 0) + copyingGas(overhead, copied),
  )
  return {
    unmetered: standard + BigInt(work),
    floor: calldataFloor ? floor : 0n,
  }
}

/**
 * EIP-3529 gives back at most a fifth of a transaction's gas. Of a bundle with prepaid gas P, unmetered
 * gas U, metered gas M and refunds R, the charge P + M then covers the cost when it covers four fifths of
 * U + R + M, so when 5 P + (M - 4 R) is at least 4 U. This is the operation's part of M - 4 R, with or
 * without a refund, at the least metered gas.
 */
export function cappedGas(gas: ForkGas, op: Pick<Operation, 'paymaster'>, metered: bigint): bigint {
  const withRefund = greatest(metered, BigInt(gas.meteredWithRefund))
  return smallest(metered, withRefund - 4n * refundOf(gas, op))
}

/** The highest refund that the EntryPoint's own work on the operation may bring. */
export function refundOf(
  { depositRefund }: ForkGas,
  { paymaster }: Pick<Operation, 'paymaster'>,
): bigint {
  return paymaster === undefined ? BigInt(depositRefund) : 0n
}

/** Gas for the EntryPoint's work on one operation that no limit meters, without calldata and copying. */
function workGas(
  gas: ForkGas,
  { op, before }: Pick<CarriedOperation, 'op' | 'before'>,
  chargedGas: ChargedGas,
): number {
  const { overhead } = gas
  // Whether an account or a paymaster returns a range is theirs to decide with each validation.
  const ranges = overhead.range * (op.paymaster === undefined ? 1 : 2)
  const refund = chargedGas === 'used' ? 0 : Number(refundOf(gas, op))
  return overhead.perOp + ranges + unmeteredGas(gas, op, before) + refund
}

/** Bytes of call data, which cost otherwise where they are zero. */
type CountedBytes = { readonly zeros: number; readonly others: number }

function countBytes(hex: Hex): CountedBytes {
  let zeros = 0
  for (let at = 2; at < hex.length; at += 2) {
    if (hex.charCodeAt(at) === ZERO_DIGIT && hex.charCodeAt(at + 1) === ZERO_DIGIT) zeros++
  }
  return { zeros, others: (hex.length - 2) / 2 - zeros }
}

const ZERO_DIGIT = 0x30

function dataGasOf({ zeroByte, byte }: ForkGas, { zeros, others }: CountedBytes): number {
  return zeroByte * zeros + byte * others
}

function floorOf({ floorZeroByte, floorByte }: ForkGas, { zeros, others }: CountedBytes): number {
  return floorZeroByte * zeros + floorByte * others
}

/** Gas of the transaction that carries `data`, without any work: what is charged for it, and the least by EIP-7623. */
export function transactionGas(gas: ForkGas, data: Hex): { standard: bigint; floor: bigint } {
  const bytes = countBytes(data)
  return {
    standard: BigInt(gas.transaction + dataGasOf(gas, bytes)),
    floor: BigInt(gas.transaction + floorOf(gas, bytes)),
  }
}

/** The least gas that the chain charges for a transaction with this gas limit, whatever it uses. */
export function leastCharged(chargedGas: ChargedGas, limit: bigint): bigint {
  if (chargedGas === 'used') return 0n
  return chargedGas === 'limit' ? limit : (limit + 1n) / 2n
}

/** Bytes of a signed transaction around its calldata, at most. */
const ENVELOPE = 200
/** Bytes of an EIP-7702 tuple, at most. */
const AUTHORIZATION = 180

const nobody = `0x${'00'.repeat(20)}` as const

/**
 * The tip (wei per gas) below which the chain's nodes do not take a bundle with these operations: by its plain bytes and
 * the least gas that it can use, so never too low.
 */
export function bundleTip(
  entryPoint: EntryPoint,
  carried: readonly CarriedOperation[],
  floor: TipFloor,
): bigint {
  if (floor.perByte === 0n) return floor.perGas
  const ops = carried.map(({ op }) => op)
  const data = entryPoint.encodeHandleOps(ops, nobody)
  const tuples = ops.filter(({ authorization }) => authorization !== undefined).length
  const bytes = ENVELOPE + size(data) + AUTHORIZATION * tuples
  return tipOf(
    floor,
    bytes,
    bundleCost(entryPoint, carried, data, { hasBeneficiary: false }).unmetered,
  )
}
