import type { Address, Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import type { StateOverride } from '../chain/ethCall.js'
import { depositSlot } from '../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { Miss, State } from '../evm/index.js'

/** wei; above the cost of any operation, and low enough that the EntryPoint's uint112 can still grow */
const PLENTY = 2n ** 96n

/** wei that an account has, and has in the EntryPoint. */
type Money = { readonly balance: bigint; readonly deposit: bigint }

/**
 * An override with which `paymaster` has a large deposit, so that it cannot lack money for gas (AA31). The EntryPoint
 * holds that deposit in ether too: it pays the beneficiary from it (AA91), and a new EntryPoint may have none.
 */
function fundPaymaster({ address }: EntryPoint, paymaster: Address): StateOverride {
  const value: Hex = `0x${PLENTY.toString(16).padStart(64, '0')}`
  const balance: Hex = `0x${PLENTY.toString(16)}`
  return { [address]: { balance, stateDiff: { [depositSlot(paymaster)]: value } } }
}

/**
 * An override with which the sender of `op` cannot lack money for gas (AA21). It has, on top of its balance, the part
 * of the prefund that its deposit does not cover: it pays that in validation, and its call meets its
 * real balance, so that a call which sends more fails in an estimate as it would later.
 */
function fundSender(
  entryPoint: EntryPoint,
  op: Operation,
  { balance, deposit }: Money,
): StateOverride {
  const wei = balance + greatest(entryPoint.requiredPrefund(op) - deposit, 0n)
  return { [op.sender]: { balance: `0x${wei.toString(16)}` } }
}

/** The deposit (wei) in the slot that `depositSlot` names, which also holds other values. */
export function depositIn(word: bigint): bigint {
  return BigInt.asUintN(112, word)
}

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
