import type { Address, Hex } from 'viem'
import { hexOfLimbs } from '../bytes/limbs.js'
import type { Precompile } from '../precompiles/index.js'
import { type Code, emptyCode } from './code.js'

/** One storage slot during a run. `original` is its value at the start of the transaction. */
export type EvmSlot = {
  readonly key: Hex
  warm: boolean
  /** Undefined until it is read or written: an access list warms slots without reading. */
  value: bigint | undefined
  original: bigint
}

/** One account during a run. Its state is unknown until `World.load` has filled it in. */
export type EvmAccount = {
  readonly address: Address
  /** Five 32-bit limbs, least significant first. */
  readonly limbs: Uint32Array
  readonly precompile: Precompile | undefined
  loaded: boolean
  /** Undefined until `World.nonceOf`, where the state leaves it out. */
  nonce: bigint | undefined
  balance: bigint
  code: Code
  hasStorage: boolean
  warm: boolean
  /** EIP-161: an account that is touched and empty at the end of the transaction is deleted. */
  touched: boolean
  /** Created in this transaction: its storage began empty and SELFDESTRUCT may delete it. */
  created: boolean
  destroyed: boolean
  readonly slots: Map<string, EvmSlot>
  /** EIP-1153 storage, made on first use. */
  transient: Map<string, bigint> | undefined
}

/** An account of which nothing is known yet but the address. Precompiles are always warm. */
export function createEvmAccount(
  address: Address,
  limbs: Uint32Array,
  precompile: Precompile | undefined,
): EvmAccount {
  return {
    address,
    limbs,
    precompile,
    loaded: false,
    nonce: 0n,
    balance: 0n,
    code: emptyCode,
    hasStorage: false,
    warm: precompile !== undefined,
    touched: false,
    created: false,
    destroyed: false,
    slots: new Map(),
    transient: undefined,
  }
}

/** A cold slot of which only the key is known. */
export function createSlot(limbs: Uint32Array, at: number): EvmSlot {
  return { key: hexOfLimbs(limbs, at, 8), warm: false, value: undefined, original: 0n }
}
