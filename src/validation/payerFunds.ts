import type { Address, Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import type { StateOverride } from '../chain/stateOverride.js'
import { depositSlot } from '../encoding/storageLayout.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** wei; above the cost of any operation, and low enough that the EntryPoint's uint112 can still grow */
const PLENTY = 2n ** 96n

/** wei that an account has, and has in the EntryPoint. */
export type Money = { readonly balance: bigint; readonly deposit: bigint }

/** An override with which `paymaster` has a large deposit, so that it cannot lack money for gas (AA31). */
export function fundPaymaster({ address }: EntryPoint, paymaster: Address): StateOverride {
  const value: Hex = `0x${PLENTY.toString(16).padStart(64, '0')}`
  return { [address]: { stateDiff: { [depositSlot(paymaster)]: value } } }
}

/**
 * An override with which the sender of `op` cannot lack money for gas (AA21). It has, on top of its balance, the part
 * of the prefund that its deposit does not cover: it pays that in validation, and its call meets its
 * real balance, so that a call which sends more fails in an estimate as it would later.
 */
export function fundSender(
  entryPoint: EntryPoint,
  op: Operation,
  { balance, deposit }: Money,
): StateOverride {
  const wei = balance + greatest(entryPoint.requiredPrefund(op) - deposit, 0n)
  return { [op.sender]: { balance: `0x${wei.toString(16)}` } }
}

/** The deposit (wei) in the slot that `depositSlot` names, which holds more beside it. */
export function depositIn(word: bigint): bigint {
  return BigInt.asUintN(112, word)
}
