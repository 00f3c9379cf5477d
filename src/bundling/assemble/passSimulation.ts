import { comingBlockOverride } from '../../chain/comingBlock.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Assembly } from './assembly.js'
import { classifyFailure } from './classifyFailure.js'
import { banResponsibleEntity, countFailures, type FailedOperation } from './countFailures.js'
import { roleOfFailure } from './responsibleEntity.js'
import { type SimulationResult, simulateBundle } from './simulateBundle.js'

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
  const simulation = { node, entryPoint, executor, beneficiary, fees, pretended }
  const { kept, failed, conflicting } = await simulateBundle(simulation, valid)
  const failures: FailedOperation[] = []
  for (const { stored, failure } of failed) {
    const drop = await classifyFailure(context, entryPoint, head, { stored, failure })
    if (drop) failures.push({ stored, drop, responsible: roleOfFailure(failure.code) })
    else waiting.add(stored.hash)
  }
  await countFailures(context, entryPoint, failures)
  await banForConflicts(context, entryPoint, conflicting)
  return kept
}

/**
 * GREP-040: an entity whose operation passed its validation just before and fails beside others is
 * responsible for that.
 */
async function banForConflicts(
  context: BundlingContext,
  entryPoint: Assembly['entryPoint'],
  conflicting: SimulationResult['conflicting'],
): Promise<void> {
  if (context.rules.mode === 'off') return
  for (const { stored, failure } of conflicting) {
    // Money that other operations have used up is no proof of bad will.
    if (failure.code === 'AA21' || failure.code === 'AA31') continue
    const responsible = roleOfFailure(failure.code)
    if (responsible) await banResponsibleEntity(context, entryPoint, stored, responsible)
  }
}
