import type { Address, Hex } from 'viem'
import type { State } from './state.js'

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
