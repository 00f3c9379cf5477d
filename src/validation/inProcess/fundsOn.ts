import type { StateOverride } from '../../chain/stateOverride.js'
import { depositSlot } from '../../encoding/storageLayout.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { Miss, State } from '../../evm/index.js'
import { depositIn, fundPaymaster, fundSender } from '../payerFunds.js'

/** What is pretended, or the state that must be known first. */
type Funds =
  | { readonly kind: 'known'; readonly override: StateOverride }
  | { readonly kind: 'missing'; readonly misses: Miss[] }

/** An override with which the payer of `op` has enough money for gas, from the money that it has on `state`. */
export function fundsOn(state: State, entryPoint: EntryPoint, op: Operation): Funds {
  const { sender, paymaster } = op
  if (paymaster !== undefined)
    return { kind: 'known', override: fundPaymaster(entryPoint, paymaster) }
  const { address } = entryPoint
  const slot = depositSlot(sender)
  const account = state.account(sender)
  const word = state.slot(address, slot)
  if (account === undefined || word === undefined) {
    const misses: Miss[] = [
      { kind: 'account', address: sender },
      { kind: 'slot', address, slot },
    ]
    return { kind: 'missing', misses }
  }
  const money = { balance: account.balance, deposit: depositIn(word) }
  return { kind: 'known', override: fundSender(entryPoint, op, money) }
}
