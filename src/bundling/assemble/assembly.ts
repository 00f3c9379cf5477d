import type { Address, Hex } from 'viem'
import type { Head } from '../../chain/head.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'

/** The bundle that is being assembled. */
export type Assembly = {
  readonly head: Head
  /** The account that will send it. */
  readonly executor: Address
  readonly entryPoint: EntryPoint
  /** Hashes of operations to leave out this time. The steps add those that turn out to have to wait. */
  readonly waiting: Set<Hex>
}
