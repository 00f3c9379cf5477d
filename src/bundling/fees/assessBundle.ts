import type { Hex } from 'viem'
import { greatest, smallest } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { DataCost } from '../../gas/dataCost.js'
import { leastCharged } from '../../gas/leastCharged.js'
import { type BundleCharges, type BundleCost, bundleCost } from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import type { Engine } from '../../validation/engine.js'
import { bundleGasLimit } from './bundleGasLimit.js'
import { carriedOperation } from './carriedOperation.js'
import { coversGas, paysForItself } from './paysForItself.js'
import { type PricedOperation, pricedOperation } from './pricedOperation.js'

/** Gas that every EntryPoint meters for any operation: its nonce, its payment, the call of its account. */
const LEAST_METERED = 10_000n

/**
 * Measures the cost and the income of a bundle; the returned function tells whether the bundle pays for
 * itself with given fees. Only where the calldata floor (EIP-7623), the part of the gas limit that the chain charges or the cap of refunds (EIP-3529) may
 * bind does it matter how much gas validation uses: then every operation is validated again.
 */
export async function assessBundle(
  engine: Pick<Engine, 'validate'>,
  entryPoint: EntryPoint,
  operations: readonly Pick<
    StoredOperation,
    'operation' | 'offer' | 'mostCharged' | 'firstValidation'
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
