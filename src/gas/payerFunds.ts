import { type Address, encodeAbiParameters, type Hex, keccak256 } from 'viem'
import type { StateOverride } from '../chain/stateOverride.js'

/** wei; above what any operation can cost, and low enough to be added to in the EntryPoint's uint112 */
const plenty = 2n ** 96n

/** The node shall pretend that `paymaster` has plenty deposited, so that AA31 cannot be. */
export function depositOverride(entryPoint: Address, paymaster: Address): StateOverride {
  const value: Hex = `0x${plenty.toString(16).padStart(64, '0')}`
  return { [entryPoint]: { stateDiff: { [depositSlot(paymaster)]: value } } }
}

/** The node shall pretend that `account` has `wei`. */
export function balanceOverride(account: Address, wei: bigint): StateOverride {
  return { [account]: { balance: `0x${wei.toString(16)}` } }
}

/**
 * Where an EntryPoint of any version keeps the deposit of `account`: the mapping `deposits` is its
 * first storage variable, and a deposit is the low 112 bits of the first word of its entry.
 */
function depositSlot(account: Address): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [account, 0n]))
}
