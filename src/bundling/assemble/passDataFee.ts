import { dataGas } from '../../gas/dataGas.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import { bundleCharges, preVerificationGas } from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { carriedOperation } from '../fees/carriedOperation.js'
import { pricedOperation } from '../fees/pricedOperation.js'
import type { Assembly } from './assembly.js'

/**
 * The operations whose preVerificationGas repays their share of the data fee at this price. The others
 * stay in the pool until it falls: they would keep those back that repay theirs.
 */
export function passDataFee(
  { definition }: Pick<BundlingContext, 'definition'>,
  { entryPoint, waiting }: Pick<Assembly, 'entryPoint' | 'waiting'>,
  price: DataPrice | undefined,
  selected: readonly StoredOperation[],
): readonly StoredOperation[] {
  if (price === undefined) return selected
  return selected.filter((stored) => {
    const { op, contextSize } = carriedOperation(stored)
    const bundleSize = stored.sharedBy
    const data = { op, fees: pricedOperation(entryPoint, stored), bundleSize }
    const required = preVerificationGas(entryPoint, op, {
      bundleSize,
      ...bundleCharges(definition),
      contextSize,
      // Less gas of validation needs more here: whether that binds is for the whole bundle to say.
      verificationGasUsed: op.verificationGasLimit + op.paymasterVerificationGasLimit,
      dataGas: dataGas(entryPoint, data, price),
    })
    const repays = op.preVerificationGas >= required
    if (!repays) waiting.add(stored.hash)
    return repays
  })
}
