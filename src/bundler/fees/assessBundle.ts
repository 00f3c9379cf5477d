import type { Hex } from 'viem'
import { greatest, smallest, sum } from '../../base/bigints.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import type { ForkGas } from '../../erc4337/forkGas.js'
import type { Operation } from '../../erc4337/operation.js'
import type { DataCost } from '../../gas/dataGas.js'
import { highestPrice, maxChargedGas } from '../../gas/highestPrice.js'
import {
  type BundleCharges,
  type BundleCost,
  bundleCost,
  cappedGas,
  leastCharged,
  refundOf,
} from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../mempool/pool/operations.js'
import type { Engine } from '../../simulation/engine.js'
import {
  bundleGasLimit,
  carriedOperation,
  type PricedOperation,
  pricedOperation,
} from './pricedOperation.js'

/** Gas that every EntryPoint meters for any operation: its nonce, its payment, the call of its account. */
const LEAST_METERED = 10_000n

/**
 * Measures the cost and the income of a bundle; the returned function says whether the bundle pays for
 * itself with given fees. Only where the calldata floor (EIP-7623), the part of the gas limit that the chain charges or the cap of refunds (EIP-3529) may
 * bind does it matter how much gas validation uses: then every operation is validated again.
 */
export async function assessBundle(
  engine: Pick<Engine, 'validate'>,
  entryPoint: EntryPoint,
  operations: readonly Pick<
    StoredOperation,
    'operation' | 'bid' | 'mostCharged' | 'firstValidation'
  >[],
  data: Hex,
  charges: BundleCharges,
  dataCost: DataCost | undefined,
): Promise<(fees: Fees) => boolean> {
  const ops = operations.map(({ operation }) => operation)
  const carried = operations.map(carriedOperation)
  const { unmetered, floor } = bundleCost(entryPoint, carried, data, charges)
  const limit = bundleGasLimit(entryPoint, carried, data)
  const least = leastCharged(charges.chargedGas ?? 'used', limit)
  const cost = { unmetered, floor: greatest(floor, least) }
  const priced = operations.map((stored) => pricedOperation(entryPoint, stored))
  const paying = (op: PricedOperation, metered: bigint) => {
    return { op, metered, executionCharge: entryPoint.leastExecutionCharge(op) }
  }
  const isCovered = coversGas(
    entryPoint.gas(),
    ops.map((op) => paying(op, LEAST_METERED)),
    withData(entryPoint, cost, priced, dataCost),
  )
  const metered = async (op: Operation) =>
    isCovered ? LEAST_METERED : verificationGas(engine, entryPoint, op)
  const all = await Promise.all(
    priced.map(async (op, at) => paying(op, await metered(ops[at] ?? op))),
  )
  return (fees) => paysForItself({ entryPoint, paying: all, cost, data: dataCost }, fees)
}

/** The cost in gas, with the gas that operations must have prepaid for data where they pay least for it. */
function withData(
  entryPoint: EntryPoint,
  cost: BundleCost,
  ops: readonly PricedOperation[],
  dataCost: DataCost | undefined,
): BundleCost {
  if (dataCost === undefined) return cost
  const [first = 1n, ...others] = ops.map((op) => entryPoint.gasPrice(op, dataCost.lowestBaseFee))
  const dataGas = dataCost.wei / greatest(smallest(first, ...others), 1n) + 1n
  return { unmetered: cost.unmetered + dataGas, floor: cost.floor + dataGas }
}

async function verificationGas(
  engine: Pick<Engine, 'validate'>,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<bigint> {
  const validated = await engine.validate(entryPoint, op)
  return validated.ok ? validated.validation.verificationGasUsed : 0n
}

/** An operation of a bundle. */
export type Paying = {
  readonly op: PricedOperation
  /** Gas of validation that the operation is sure to be charged on top of preVerificationGas. */
  readonly metered: bigint
  /** Gas that it is charged for execution, whatever that uses (`leastExecutionCharge`). */
  readonly executionCharge: bigint
}

type PricedBundle = {
  readonly entryPoint: EntryPoint
  readonly paying: readonly Paying[]
  readonly cost: BundleCost
  /** Absent on a chain that charges nothing for data on top of gas. */
  readonly data?: DataCost | undefined
}

const noData = { wei: 0n, perGas: 0n, lowestBaseFee: 0n } as const

/**
 * Whether the charges that the EntryPoint collects from the operations cover the cost of the
 * transaction, at every base fee at which it can be included with `fees`, and however much of their
 * limits the operations use. Never where the transaction would be valid at a base fee at which one of
 * them may make it revert. Pure integer arithmetic, no rounding. What the chain takes for data is
 * the same at every base fee, while the charges fall with it: there they must cover it at the lowest
 * base fee that may come.
 *
 * Both sides are piecewise linear in the base fee and in the gas used, so it is enough to compare them
 * at the ends and at the breakpoints.
 */
export function paysForItself(
  { entryPoint, paying, cost, data }: PricedBundle,
  fees: Fees,
): boolean {
  const ops = paying.map(({ op }) => op)
  const gas = entryPoint.gas()
  const isUncovered = ({ highestBaseFee = fees.maxFeePerGas }: PricedOperation) =>
    fees.maxFeePerGas > highestBaseFee
  if (ops.some(isUncovered)) return false
  const prepaid = prepaidGas(paying)
  // Where no gas costs more than each operation pays for it, enough gas is enough.
  const hasEnoughGas = prepaid >= cost.unmetered && coversGas(gas, paying, cost)
  if (data === undefined && hasEnoughGas && !outbids(entryPoint, ops, fees)) return true
  const { wei, perGas, lowestBaseFee } = data ?? noData
  return breakpoints(entryPoint, ops, fees, lowestBaseFee).every((baseFee) => {
    const price = smallest(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas) + perGas
    const earned = (op: Operation, amount: bigint) =>
      smallest(entryPoint.requiredPrefund(op), amount * entryPoint.gasPrice(op, baseFee))
    /** wei left of an operation's charge when the gas it was charged for is paid. */
    const margin = (op: Operation, amount: bigint) => earned(op, amount) - amount * price
    const margins = ops.map((op) =>
      smallest(margin(op, op.preVerificationGas), margin(op, maxChargedGas(entryPoint, op))),
    )
    const surplus = sum(margins) + (prepaid - cost.unmetered) * price
    const certain = paying.map(({ op, metered, executionCharge }) =>
      earned(op, op.preVerificationGas + metered + executionCharge),
    )
    /** Five times the wei left of a charge when four fifths of its metered gas are paid. */
    const fifths = (op: Operation, amount: bigint) =>
      5n * earned(op, amount) - 4n * (amount - op.preVerificationGas) * price
    const capped = paying.map(({ op, metered }) => {
      const most = fifths(op, maxChargedGas(entryPoint, op))
      const left = (least: bigint) => smallest(fifths(op, op.preVerificationGas + least), most)
      const refunded =
        left(greatest(metered, BigInt(gas.meteredWithRefund))) - 4n * refundOf(gas, op) * price
      return smallest(left(metered), refunded)
    })
    // One gas more than the unmetered: the fifth that comes back is rounded down.
    return (
      surplus >= wei &&
      sum(certain) >= cost.floor * price + wei &&
      sum(capped) >= 4n * (cost.unmetered + 1n) * price + 5n * wei
    )
  })
}

/**
 * Whether prepaid gas and gas that is sure to be metered cover the bundle where the floor of calldata or
 * the cap of refunds binds, at one price for all gas. What is charged for unused gas counts towards the floor only.
 */
function coversGas(gas: ForkGas, paying: readonly Paying[], cost: BundleCost): boolean {
  const prepaid = prepaidGas(paying)
  const certain = paying.map(({ metered, executionCharge }) => metered + executionCharge)
  const charged = prepaid + sum(certain)
  const capped = 5n * prepaid + sum(paying.map(({ op, metered }) => cappedGas(gas, op, metered)))
  return charged >= cost.floor && capped >= 4n * cost.unmetered
}

function prepaidGas(paying: readonly Paying[]): bigint {
  return sum(paying.map(({ op }) => op.preVerificationGas))
}

/** Whether gas of the transaction can cost more than one of the operations pays for it. */
function outbids(entryPoint: EntryPoint, ops: readonly Operation[], fees: Fees): boolean {
  return ops.some(
    (op) =>
      fees.maxFeePerGas > highestPrice(entryPoint, op) ||
      fees.maxPriorityFeePerGas > op.maxPriorityFeePerGas,
  )
}

/** Base fees at which a price stops growing, from the lowest to the highest at which the transaction is valid. */
function breakpoints(
  entryPoint: EntryPoint,
  ops: readonly Operation[],
  fees: Fees,
  lowest: bigint,
): bigint[] {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const baseFees = [
    smallest(lowest, maxFeePerGas),
    maxFeePerGas,
    maxFeePerGas - maxPriorityFeePerGas,
    ...ops.flatMap((op) => {
      const highest = highestPrice(entryPoint, op)
      const prices = [op.maxFeePerGas, highest, highest + 1n]
      return prices.map((price) => price - op.maxPriorityFeePerGas)
    }),
  ]
  return [...new Set(baseFees)].filter(
    (baseFee) => baseFee >= smallest(lowest, maxFeePerGas) && baseFee <= maxFeePerGas,
  )
}
