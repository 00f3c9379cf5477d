import type { Address, Hex } from 'viem'
import type { BlockEnv } from './block.js'
import { rulesByFork } from './forks.js'
import {
  ACCESS_LIST_ADDRESS,
  ACCESS_LIST_SLOT,
  AUTHORIZATION,
  FLOOR_PER_TOKEN,
  INITCODE_WORD,
  TRANSACTION,
  TRANSACTION_CREATE,
  wordCount,
} from './gasCosts.js'

/** EIP-2930 access list. */
export type AccessList = readonly { address: Address; storageKeys: readonly Hex[] }[]

/** The parts of a transaction that are paid for before it runs. */
export type Envelope = {
  /** Absent for a creation. */
  to?: Address | undefined
  data: Uint8Array
  accessList?: AccessList | undefined
  /** EIP-7702 authorizations; only their number counts here. */
  authorizations?: readonly unknown[] | undefined
}

/** Gas taken before execution, and the least a transaction is charged in all (EIP-7623). */
export type IntrinsicGas = { intrinsic: number; floor: number }

/** Intrinsic gas of a transaction or `eth_call`; `floor` is 0 where the chain has none. */
export function intrinsicGas(
  {
    fork,
    calldataFloor = rulesByFork[fork].calldataFloor,
  }: Pick<BlockEnv, 'fork' | 'calldataFloor'>,
  envelope: Envelope,
): IntrinsicGas {
  const { to, data, accessList = [], authorizations = [] } = envelope
  let nonZero = 0
  for (let i = 0; i < data.length; i++) if (data[i] !== 0) nonZero++
  const tokens = data.length + 3 * nonZero
  let intrinsic = TRANSACTION + 4 * tokens + AUTHORIZATION * authorizations.length
  if (to === undefined) intrinsic += TRANSACTION_CREATE + INITCODE_WORD * wordCount(data.length)
  for (const { storageKeys } of accessList) {
    intrinsic += ACCESS_LIST_ADDRESS + ACCESS_LIST_SLOT * storageKeys.length
  }
  const floor = calldataFloor ? TRANSACTION + FLOOR_PER_TOKEN * tokens : 0
  return { intrinsic, floor }
}
