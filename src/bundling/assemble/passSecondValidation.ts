import type { StoredOperation } from '../../store/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Assembly } from './assembly.js'
import { countFailures } from './countFailures.js'
import { validateAgain } from './validateAgain.js'
import { withoutConflicts } from './withoutConflicts.js'

/**
 * The selected operations that pass their second validation and may share a bundle. The others are
 * dropped or wait; those that only conflict can go in the next bundle.
 */
export async function passSecondValidation(
  context: BundlingContext,
  { head, entryPoint, waiting }: Assembly,
  selected: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const results = await Promise.all(
    selected.map((stored) => validateAgain(context, entryPoint, head, stored)),
  )
  for (const { kind, stored } of results) if (kind === 'wait') waiting.add(stored.hash)
  await countFailures(
    context,
    entryPoint,
    results.filter((result) => result.kind === 'drop'),
  )
  const valid = results.filter((result) => result.kind === 'valid')
  return withoutConflicts(
    valid.map((result) => ({ ...result, operation: result.stored.operation })),
  ).map(({ stored }) => stored)
}
