import type { Address, Hex } from 'viem'
import type { StateOverride } from '../chain/ethCall.js'
import type { Operation } from '../erc4337/operation.js'
import { type EvmAccountOverride, fromHex, type Overrides } from '../evm/index.js'

/** State overrides of JSON-RPC in the form that our EVM takes. */
export function toEvmOverrides(override: StateOverride): Overrides {
  return new Map(
    Object.entries(override).map(([address, { balance, nonce, code, state, stateDiff }]) => {
      const account: EvmAccountOverride = {
        ...(balance === undefined ? {} : { balance: BigInt(balance) }),
        ...(nonce === undefined ? {} : { nonce: BigInt(nonce) }),
        ...(code === undefined ? {} : { code: fromHex(code) }),
        ...(state === undefined ? {} : { state: slotsOf(state) }),
        ...(stateDiff === undefined ? {} : { stateDiff: slotsOf(stateDiff) }),
      }
      return [address.toLowerCase() as Address, account]
    }),
  )
}

function slotsOf(slots: Readonly<Record<Hex, Hex>>): ReadonlyMap<Hex, bigint> {
  return new Map(
    Object.entries(slots).map(([slot, value]) => [
      `0x${slot.slice(2).toLowerCase().padStart(64, '0')}`,
      BigInt(value),
    ]),
  )
}

const NO_DELEGATE: Address = '0x0000000000000000000000000000000000000000'

/**
 * The sender's state after the operation's authorization, as if it were signed correctly (EIP-7702,
 * ERC-7769): its code is that of the delegate, or none for the zero address.
 */
export function authorizationOverride({
  sender,
  authorization,
}: Pick<Operation, 'sender' | 'authorization'>): StateOverride {
  if (authorization === undefined) return {}
  const { address, nonce } = authorization
  const code: Hex = address === NO_DELEGATE ? '0x' : `0xef0100${address.slice(2)}`
  return { [sender]: { code, nonce: `0x${(nonce + 1n).toString(16)}` } }
}

type OverriddenAccount = StateOverride[Address]

/**
 * Both overrides at once; where both set the same thing, `stronger` wins, slot by slot. Nodes refuse
 * `state` together with `stateDiff`, so slots of the other side move into the `state` that there is.
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
