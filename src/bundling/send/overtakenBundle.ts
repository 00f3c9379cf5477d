import { parseTransaction } from 'viem/utils'
import { greatest, smallest } from '../../base/bigints.js'
import type { Head } from '../../chain/head.js'
import type { Fees } from '../../entrypoint/fees.js'
import { fromHex } from '../../evm/index.js'
import { dataCostOfRaw } from '../../gas/dataCost.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import { dataPriceAt } from '../../gas/dataPriceAt.js'
import { placeholder } from '../../gas/placeholder.js'
import { bundleCharges } from '../../gas/preVerificationGas.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { operationsInBundle } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { assessBundle } from '../fees/assessBundle.js'
import { takeoverFees } from '../fees/takeoverFees.js'
import { newestAttempt } from './lanes.js'

/** Gas of a transaction that does nothing, and bytes as many as a signed one has at most. */
const NOTHING_GAS = 21_000n
const nothingBytes = fromHex(placeholder(130, 53))

/**
 * Whether the price of L1 at `head` makes a pending bundle cost more than its operations pay, by more than it
 * costs to take the bundle back. The operations then wait for the price to fall, and the operator pays no more than
 * for a transaction that does nothing.
 */
export async function isOvertaken(
  { database, definition, node, engine, entryPoints }: BundlingContext,
  head: Head,
  bundle: OpenBundle,
  fast: Fees,
): Promise<boolean> {
  const newest = newestAttempt(bundle)
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  const price = await dataPriceAt(node, definition.dataFee, head)
  if (price === undefined || entryPoint === undefined || newest.noop) return false
  const { data = '0x', gas = 0n } = parseTransaction(newest.raw)
  const charged = dataCostOfRaw(price, newest.raw, gas)
  if (charged === undefined) return false
  const takenBack = costOfNothing(price, head, takeoverFees(newest, fast))
  const shortBy = { ...charged, wei: greatest(charged.wei - takenBack, 0n) }
  const ops = await operationsInBundle(database, bundle.id)
  const charges = bundleCharges(definition)
  const pays = await assessBundle(engine, entryPoint, ops, data, charges, shortBy)
  return !pays(newest)
}

/** wei of a transaction with these fees that does nothing. */
function costOfNothing(price: DataPrice, { baseFee }: Head, fees: Fees): bigint {
  const gasPrice = smallest(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas)
  const data = price.feeOf(price.sizeOf(nothingBytes)) + price.operatorFeeOf(NOTHING_GAS)
  return NOTHING_GAS * gasPrice + data
}
