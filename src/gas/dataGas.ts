import type { Address, Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import {
  type ExecutorTransaction,
  encodeTransaction,
} from '../chain/signing/executorTransaction.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Fees } from '../erc4337/fees.js'
import type { Operation } from '../erc4337/operation.js'
import { fromHex } from '../evm/index.js'
import { afterSteps, type DataPrice } from './dataPrice.js'
import { maxChargedGas } from './highestPrice.js'
import { placeholder, widestOperation, widestPaymasterData } from './placeholder.js'

/**
 * Bytes by which a transaction may be larger, compressed, than one with other unknown bytes in the same
 * places: of 300 tries of a transaction of 1,151 bytes none differed by more than 5.
 */
const SIZE_SLACK = 8

const anySignature = { r: placeholder(32, 1), s: placeholder(32, 2), yParity: 1 } as const

/** Fields of a bundle that nobody knows before it is made, as wide as they get. */
const envelope = {
  chainId: Number(placeholder(4, 3)),
  nonce: Number(placeholder(3, 4)),
  gas: BigInt(placeholder(4, 5)),
  maxFeePerGas: BigInt(placeholder(6, 6)),
  maxPriorityFeePerGas: BigInt(placeholder(6, 7)),
}
const anyAddress = placeholder(20, 8) as Address
const anyAuthorization = {
  chainId: envelope.chainId,
  nonce: Number(placeholder(3, 31)),
  r: placeholder(32, 32),
  s: placeholder(32, 33),
  yParity: 1,
} as const

/** The size of a transaction that is not signed yet, for which the chain charges at most. */
export function unsignedSize(
  price: Pick<DataPrice, 'sizeOf'>,
  transaction: ExecutorTransaction,
): number {
  return price.sizeOf(encodeTransaction(transaction, anySignature)) + SIZE_SLACK
}

/** The size of a signed transaction with this call data whose other fields are as wide as they get. */
export function sizeOfCall(price: Pick<DataPrice, 'sizeOf'>, to: Address, data: Hex): number {
  return price.sizeOf(encodeTransaction({ ...envelope, to, data }, anySignature))
}

/** Gas that repays a data fee, for an operation that pays for so much unmetered gas besides. */
export type DataGas = (unmetered: bigint) => bigint

/** An operation whose share of a data fee is asked for. */
type ShareOfData = {
  /** The operation with the limits that it has. */
  readonly op: Operation
  /** The fees that are paid for it, wei per gas. */
  readonly fees: Fees
  /** Operations that share a bundle, at least 1. */
  readonly bundleSize: number
}

/**
 * Gas with which an operation repays its share of what the chain takes for the bytes of a bundle, and
 * the surcharge of an operator's fee on all gas that it may cause. The gas counts at the lowest
 * base fee that may come, since what the operation pays for it falls with the base fee and the data fee does not.
 *
 * In a bundle of one the share is all of it. In larger ones every further operation is smaller, because its
 * bytes resemble those before it: by as much as after a plain operation that has only its shape.
 */
export function dataGas(
  entryPoint: EntryPoint,
  share: ShareOfData,
  price: DataPrice | undefined,
): DataGas | undefined {
  return price && repayment(entryPoint, share, share.op, price)
}

/**
 * Steps of L1's price (`afterSteps`) that each stage allows for, so that what one stage takes the next one
 * does not find too little: one step may come between the last look and the inclusion, another one between
 * the estimate and admission.
 */
export const dataSteps = { estimate: 2, admission: 1, bundle: 1 } as const

/** A preVerificationGas of four bytes costs more than one of three, which gas limits have at most. */
const FOURTH_BYTE_GAS = 30n
const THREE_BYTES = 2n ** 24n

/**
 * `dataGas` of an operation that is not signed yet: with bytes that do not compress in place of its signature,
 * what is unknown of its paymaster's data, its limits and its fees.
 */
export function estimatedDataGas(
  entryPoint: EntryPoint,
  share: ShareOfData,
  price: DataPrice | undefined,
): DataGas | undefined {
  if (price === undefined) return undefined
  const { op } = share
  const written = { ...widestOperation(op), paymasterData: widestPaymasterData(op.paymasterData) }
  const repaid = repayment(entryPoint, share, written, afterSteps(price, dataSteps.estimate))
  return (unmetered) => {
    const gas = repaid(unmetered)
    return unmetered + gas < THREE_BYTES ? gas : gas + FOURTH_BYTE_GAS
  }
}

/** @param written the operation with the bytes that it may have */
function repayment(
  entryPoint: EntryPoint,
  { op, fees, bundleSize }: ShareOfData,
  written: Operation,
  { feeOf, operatorConstant, operatorPerGas, lowestBaseFee, sizeOf }: DataPrice,
): DataGas {
  const size = bundledSize(entryPoint, written, bundleSize, { sizeOf })
  const shared = divideUp(feeOf(size) + operatorConstant, BigInt(bundleSize))
  const metered = maxChargedGas(entryPoint, { ...op, preVerificationGas: 0n })
  const price = greatest(entryPoint.gasPrice(fees, lowestBaseFee), 1n)
  return (unmetered) => divideUp(shared + operatorPerGas * (metered + unmetered), price)
}

/** The size of a bundle of so many operations that are as large as this one. */
function bundledSize(
  entryPoint: EntryPoint,
  op: Operation,
  bundleSize: number,
  price: Pick<DataPrice, 'sizeOf'>,
): number {
  const sizeOf = (ops: readonly Operation[]) =>
    unsignedSize(price, {
      ...envelope,
      to: entryPoint.address,
      data: entryPoint.encodeHandleOps(ops, anyAddress),
      authorizationList: ops.flatMap(({ authorization }) =>
        authorization ? [{ ...anyAuthorization, address: authorization.address }] : [],
      ),
    })
  const alone = sizeOf([op])
  if (bundleSize === 1) return alone
  const plain = plainOperation(op)
  const further = sizeOf([plain, op]) - sizeOf([plain])
  return alone + (bundleSize - 1) * further
}

/** An operation of somebody else: it has fields of the same width, but no byte in common. */
function plainOperation(op: Operation): Operation {
  return {
    ...op,
    sender: placeholder(20, 11) as Address,
    nonce: op.nonce === 0n ? 0n : BigInt(placeholder(8, 12)),
    factory: undefined,
    factoryData: '0x',
    callData: '0x',
    callGasLimit: BigInt(placeholder(3, 13)),
    verificationGasLimit: BigInt(placeholder(3, 14)),
    preVerificationGas: BigInt(placeholder(3, 15)),
    maxFeePerGas: BigInt(placeholder(4, 16)),
    maxPriorityFeePerGas: BigInt(placeholder(4, 17)),
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: placeholder(65, 18),
    authorization: undefined,
  }
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor
}

/** What the chain charges for one transaction of ours on top of gas at the gas price. */
export type DataCost = {
  /** wei, however much gas it uses */
  readonly wei: bigint
  /** wei for each gas used */
  readonly perGas: bigint
  /** wei per gas: the transaction is included at no lower base fee. */
  readonly lowestBaseFee: bigint
  /** Gas of the limit that the chain takes before the transaction runs. */
  readonly posterGas: bigint
  /** wei that its sender must have on top of gas limit times fee, or a node refuses it. */
  readonly reserve: bigint
}

/** The gas limit covers twice the gas charged for data: what is unused is not charged. */
const POSTER_ROOM = 2n
/** Margin for a data fee that rises while a transaction is pending. */
const RESERVE_NUMERATOR = 3n
const RESERVE_DENOMINATOR = 2n

/** The cost of a transaction that is not signed yet; undefined on a chain that has none. */
export function dataCost(
  price: DataPrice | undefined,
  transaction: ExecutorTransaction,
): DataCost | undefined {
  return price && costOfSize(price, unsignedSize(price, transaction), transaction.gas)
}

/** The cost of signed bytes with this gas limit. */
export function dataCostOfRaw(
  price: DataPrice | undefined,
  raw: Hex,
  gas: bigint,
): DataCost | undefined {
  return price && costOfSize(price, price.sizeOf(fromHex(raw)), gas)
}

function costOfSize(
  { feeOf, operatorConstant, operatorPerGas, lowestBaseFee, isInsideGas }: DataPrice,
  size: number,
  gas: bigint,
): DataCost {
  const wei = feeOf(size) + operatorConstant
  const reserve = (wei * RESERVE_NUMERATOR) / RESERVE_DENOMINATOR + operatorPerGas * gas
  return {
    wei,
    perGas: operatorPerGas,
    lowestBaseFee,
    posterGas: isInsideGas ? (POSTER_ROOM * wei) / greatest(lowestBaseFee, 1n) : 0n,
    reserve: isInsideGas ? 0n : reserve,
  }
}
