import type { HeadFollower } from '../chain/headFollower.js'
import type { BundlingContext } from './bundlingContext.js'
import type { ReceiptMemory } from './createReceiptMemory.js'
import type { PendingBlock } from './pendingBlock.js'

/** The parts with which questions about operations of one chain are answered. */
export type ViewContext = Omit<BundlingContext, 'engine' | 'rules' | 'signers' | 'treasury'> & {
  readonly heads: Pick<HeadFollower, 'current'>
  readonly receipts: ReceiptMemory
  /** Absent on chains whose pending block is no promise. */
  readonly pending?: PendingBlock | undefined
}
