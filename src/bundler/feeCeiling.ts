import { formatGwei } from 'viem/utils'
import { smallest } from '../base/bigints.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { type AdvisedFees, adviseFees } from '../chain/fees.js'
import type { Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { type TipRules, usualTip } from '../chain/tipFloor.js'
import type { Fees } from '../erc4337/fees.js'

type Ceiling = Pick<ChainDefinition, 'feeCeiling'>
type CeilingContext = { readonly node: NodeClient; readonly definition: TipRules & Ceiling }

/** The fees, each lowered to the operator's ceiling. */
export function underCeiling({ feeCeiling }: Ceiling, fees: Fees): Fees {
  const { maxFeePerGas: most, maxPriorityFeePerGas: mostTip } = feeCeiling
  const maxFeePerGas = smallest(fees.maxFeePerGas, most ?? fees.maxFeePerGas)
  const tip = fees.maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: smallest(tip, mostTip ?? tip, maxFeePerGas) }
}

/** Whether a transaction of ours may have these fees. */
export function isUnderCeiling({ feeCeiling }: Ceiling, fees: Fees): boolean {
  const { maxFeePerGas: most, maxPriorityFeePerGas: mostTip } = feeCeiling
  return (
    (most === undefined || fees.maxFeePerGas <= most) &&
    (mostTip === undefined || fees.maxPriorityFeePerGas <= mostTip)
  )
}

/** The advice by which executors and treasury bid: never above the ceiling. */
export async function executorFees(
  { node, definition }: CeilingContext,
  head: Head,
): Promise<Pick<AdvisedFees, 'standard' | 'fast' | 'tipFloor'>> {
  const { standard, fast, tipFloor } = await adviseFees(node, head, definition)
  const lower = (fees: Fees) => underCeiling(definition, fees)
  return { standard: lower(standard), fast: lower(fast), tipFloor }
}

/** Why nothing can be sent after `head` without exceeding the ceiling; undefined while bundles go. */
export async function ceilingWait(
  { node, definition }: CeilingContext,
  head: Head,
): Promise<string | undefined> {
  const { maxFeePerGas: most, maxPriorityFeePerGas: mostTip } = definition.feeCeiling
  if (most === undefined && mostTip === undefined) return undefined
  const { nextBaseFee, tipFloor } = await adviseFees(node, head, definition)
  const tip = usualTip(tipFloor)
  if (most !== undefined && nextBaseFee + tip > most) {
    const least = tip > 0n ? ` and minimum tip ${gweiText(tip)}` : ''
    return `waiting: base fee ${gweiText(nextBaseFee)}${least} above your ceiling ${gweiText(most)}`
  }
  if (mostTip === undefined || tip <= mostTip) return undefined
  return `waiting: minimum tip ${gweiText(tip)} above your ceiling ${gweiText(mostTip)}`
}

/** At most three decimals, rounded up: a price above a ceiling does not read like the ceiling. */
function gweiText(wei: bigint): string {
  const step = 1_000_000n
  return `${formatGwei(((wei + step - 1n) / step) * step)} gwei`
}
