import type { Address, Hex } from 'viem'
import type { BlockEnv } from './block.js'
import { rulesByFork } from './forks.js'
import { INITCODE_WORD, wordCount } from './gasCosts.js'

/** EIP-2930 access list. */
export type AccessList = readonly { address: Address; storageKeys: readonly Hex[] }[]

/** The parts of a transaction that are paid for before it runs. */
export type Envelope = {
  /** Absent where the sender is known not to be the recipient. */
  from?: Address | undefined
  /** Absent for a creation. */
  to?: Address | undefined
  data: Uint8Array
  /** Wei; absent = 0. */
  value?: bigint | undefined
  accessList?: AccessList | undefined
  /** EIP-7702 authorizations; only their number counts here. */
  authorizations?: readonly unknown[] | undefined
}

/** Gas taken before execution, and the least a transaction is charged in all (EIP-7623). */
export type IntrinsicGas = { intrinsic: number; floor: number }

/** Intrinsic gas of a transaction or `eth_call`; `floor` is 0 where the chain has none. */
export function intrinsicGas(
  { fork, calldataFloor = true }: Pick<BlockEnv, 'fork' | 'calldataFloor'>,
  envelope: Envelope,
): IntrinsicGas {
  const { gas: costs, stateGas } = rulesByFork[fork]
  const { from, to, data, value = 0n, accessList = [], authorizations = [] } = envelope
  let zeros = 0
  for (let i = 0; i < data.length; i++) if (data[i] === 0) zeros++
  const nonZeros = data.length - zeros
  let base = costs.transaction
  if (to !== undefined && to !== from) {
    base += costs.recipient + (value === 0n ? 0 : costs.recipientValue)
  } else if (to === undefined && stateGas) base += costs.creation
  let intrinsic = base + 4 * zeros + 16 * nonZeros + costs.authorization * authorizations.length
  if (to === undefined) {
    intrinsic += (stateGas ? 0 : costs.creation) + INITCODE_WORD * wordCount(data.length)
  }
  let floor = base + costs.floorZeroByte * zeros + costs.floorByte * nonZeros
  for (const { storageKeys } of accessList) {
    intrinsic += costs.accessListAddress + costs.accessListSlot * storageKeys.length
    if (stateGas) floor += costs.floorByte * (20 + 32 * storageKeys.length)
  }
  return { intrinsic, floor: calldataFloor && costs.floorByte > 0 ? floor : 0 }
}
