import { comingBlockOverride } from '../../chain/comingBlock.js'
import type { Fees } from '../../entrypoint/fees.js'
import { pricedBy } from '../../signing/transactionType.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Assembly } from './assembly.js'
import { classifyFailure } from './classifyFailure.js'
import { banForFailure, countFailures, type FailedOperation } from './countFailures.js'
import { roleOfFailure } from './responsibleEntity.js'
import { simulateBundle } from './simulateBundle.js'

/**
 * The operations whose handleOps succeeds with `fees`. Those that fail alone are dropped or wait; those
 * that fail only beside others stay in the pool, and an entity may be banned for them.
 */
export async function passSimulation(
  context: BundlingContext,
  { head, executor, entryPoint, waiting }: Assembly,
  fees: Fees,
  valid: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const { node, definition } = context
  const { beneficiary = executor } = definition
  const pretended = await comingBlockOverride(node, head)
  const price = pricedBy(definition.transactionType, fees)
  const simulation = { node, entryPoint, executor, beneficiary, price, pretended }
  const { kept, failed, conflicting } = await simulateBundle(simulation, valid)
  const failures: FailedOperation[] = []
  for (const { stored, failure } of failed) {
    const drop = await classifyFailure(context, entryPoint, head, { stored, failure })
    if (drop) failures.push({ stored, drop, responsible: roleOfFailure(failure.code) })
    else waiting.add(stored.hash)
  }
  await countFailures(context, entryPoint, failures)
  for (const { stored, failure } of conflicting)
    await banForFailure(context, entryPoint, stored, failure)
  return kept
}
