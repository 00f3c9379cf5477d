import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import { fromHex } from '../evm/index.js'
import type { ExecutorTransaction } from '../signing/executorTransaction.js'
import { unsignedSize } from './dataGas.js'
import type { DataPrice } from './dataPrice.js'

/** What the chain takes for one transaction of ours beside its gas at the gas price. */
export type DataCost = {
  /** wei, however much gas it uses */
  readonly wei: bigint
  /** wei for each gas used */
  readonly perGas: bigint
  /** wei per gas: the transaction is included at no lower base fee. */
  readonly lowestBaseFee: bigint
  /** Gas of the limit that the chain takes before the transaction runs. */
  readonly posterGas: bigint
  /** wei that its sender must have beside gas limit times fee: a node refuses it otherwise. */
  readonly reserve: bigint
}

/** The gas limit has room for twice the gas that is taken for data: what is left over comes back. */
const POSTER_ROOM = 2n
/** Room for a data fee that rises while a transaction is pending. */
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
