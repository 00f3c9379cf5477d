import { greatest } from '../../base/bigints.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Head } from '../head.js'
import type { NodeClient } from '../nodeClient.js'

/** Blocks for which fees that were advised may still be offered: the advice itself looks back as far. */
const BLOCKS = 10n

type Advised = { readonly number: bigint; readonly fees: Fees }

/** What was advised at the last blocks, at most once for each. */
const advisedLately = new WeakMap<NodeClient, readonly Advised[]>()

/** Remembers that these fees (wei per gas) were advised at `head`. */
export function noteAdvised(node: NodeClient, { number }: Pick<Head, 'number'>, fees: Fees): void {
  const known = advisedLately.get(node) ?? []
  // Blocks that a reorganisation has replaced go with those that are too old.
  const lately = known.filter((each) => each.number < number && each.number > number - BLOCKS)
  advisedLately.set(node, [...lately, { number, fees }])
}

/**
 * The highest fees, each for itself, of `fees` and of those that were advised through `node` at the last ten
 * blocks: what a client was told may be offered, however the fees have fallen since.
 */
export function highestAdvised(node: NodeClient, fees: Fees): Fees {
  const all = [fees, ...(advisedLately.get(node) ?? []).map((each) => each.fees)]
  return {
    maxFeePerGas: greatest(0n, ...all.map((each) => each.maxFeePerGas)),
    maxPriorityFeePerGas: greatest(0n, ...all.map((each) => each.maxPriorityFeePerGas)),
  }
}
