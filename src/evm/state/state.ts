import type { Address, Hex } from 'viem'
import type { BlockEnv } from '../block.js'

/** An account as a node reports it. An account that does not exist has zeros and no code. */
export type AccountState = {
  /** Undefined = unknown. Only needed for accounts that create contracts, or have neither code nor money. */
  nonce: bigint | undefined
  balance: bigint
  code: Uint8Array
  /** True when its storage is known not to be empty: matters only to creations at its address (EIP-7610). */
  hasStorage?: boolean
}

/**
 * World state as the caller knows it. `undefined` means unknown, not empty: the run then reports a
 * miss. Slots are 32-byte hex. Give the same array for the same code each time: jump targets and hash
 * are kept by array.
 */
export type State = {
  account(address: Address): AccountState | undefined
  slot(address: Address, slot: Hex): bigint | undefined
}

/** State that a run needed and did not find. */
export type Miss =
  | { kind: 'account'; address: Address }
  | { kind: 'nonce'; address: Address }
  | { kind: 'slot'; address: Address; slot: Hex }
  | { kind: 'blockHash'; number: bigint }

/**
 * Changes to one account, in the terms of `eth_call` state overrides: `state` replaces the whole
 * storage (what is not listed is zero), `stateDiff` only the listed slots.
 */
export type EvmAccountOverride = {
  nonce?: bigint
  balance?: bigint
  code?: Uint8Array
  state?: ReadonlyMap<Hex, bigint>
  stateDiff?: ReadonlyMap<Hex, bigint>
}

/** Changes to the world: those that a caller asks for, and those that a run leaves behind. */
export type Overrides = ReadonlyMap<Address, EvmAccountOverride>

/** `base` with `overrides` on top, without touching `base`. Layers may be stacked. */
export function overlay(base: State, overrides: Overrides): State {
  return {
    account: (address) => {
      const override = overrides.get(address)
      if (override === undefined) return base.account(address)
      const { nonce, balance, code } = override
      const whole = nonce !== undefined && balance !== undefined && code !== undefined
      const below = whole ? undefined : base.account(address)
      if (!whole && below === undefined) return undefined
      return merge(override, below)
    },
    slot: (address, slot) => {
      const override = overrides.get(address)
      const value = override?.stateDiff?.get(slot) ?? override?.state?.get(slot)
      if (value !== undefined) return value
      return override?.state === undefined ? base.slot(address, slot) : 0n
    },
  }
}

const emptyAccount: AccountState = { nonce: 0n, balance: 0n, code: new Uint8Array(0) }

function merge(override: EvmAccountOverride, below: AccountState = emptyAccount): AccountState {
  const hasStorage = override.state === undefined ? below.hasStorage : override.state.size > 0
  return {
    nonce: override.nonce ?? below.nonce,
    balance: override.balance ?? below.balance,
    code: override.code ?? below.code,
    ...(hasStorage === undefined ? {} : { hasStorage }),
  }
}

/** The accounts and slots that an execution asked of the state. */
export type Touched = {
  readonly accounts: ReadonlySet<Address>
  readonly slots: ReadonlyMap<Address, ReadonlySet<Hex>>
}

/** `known` as a state that notes in `touched` which accounts and slots it was asked for. */
export function trackState(known: State): { readonly state: State; readonly touched: Touched } {
  const accounts = new Set<Address>()
  const slots = new Map<Address, Set<Hex>>()
  return {
    touched: { accounts, slots },
    state: {
      account: (address) => {
        accounts.add(address)
        return known.account(address)
      },
      slot: (address, slot) => {
        const touched = slots.get(address)
        if (touched === undefined) slots.set(address, new Set([slot]))
        else touched.add(slot)
        return known.slot(address, slot)
      },
    },
  }
}

/** `block` as one that notes in `asked` the numbers of the blocks whose hash it was asked for. */
export function trackBlock(block: BlockEnv): {
  readonly block: BlockEnv
  readonly asked: ReadonlySet<bigint>
} {
  const asked = new Set<bigint>()
  const blockHash: BlockEnv['blockHash'] = (number) => {
    asked.add(number)
    return block.blockHash(number)
  }
  return { asked, block: { ...block, blockHash } }
}
