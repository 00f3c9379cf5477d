import type { Address } from 'viem'
import type { StateOverride } from '../chain/stateOverride.js'

type OverriddenAccount = StateOverride[Address]

/**
 * Both overrides at once; where both set the same thing, `stronger` wins, slot by slot. Nodes refuse
 * `state` beside `stateDiff`, so slots of the other side move into the `state` that there is.
 */
export function mergeOverrides(weaker: StateOverride, stronger: StateOverride): StateOverride {
  const merged: Record<Address, OverriddenAccount> = { ...weaker }
  for (const [address, account] of Object.entries(stronger) as [Address, OverriddenAccount][]) {
    const other = merged[address]
    merged[address] = other === undefined ? account : mergeAccounts(other, account)
  }
  return merged
}

function mergeAccounts(weaker: OverriddenAccount, stronger: OverriddenAccount): OverriddenAccount {
  const { state: weakState, stateDiff: weakDiff, ...weakRest } = weaker
  const { state: strongState, stateDiff: strongDiff, ...strongRest } = stronger
  const rest = { ...weakRest, ...strongRest }
  const slots = {
    ...(strongState ? weakDiff : (weakState ?? weakDiff)),
    ...(strongState ?? strongDiff),
  }
  if (weakState ?? strongState) return { ...rest, state: slots }
  return weakDiff || strongDiff ? { ...rest, stateDiff: slots } : rest
}
