import type { HeadFollower } from '../chain/headFollower.js'
import type { BundlingContext } from './bundlingContext.js'
import type { ReceiptMemory } from './createReceiptMemory.js'

/** The parts with which questions about operations of one chain are answered. */
export type ViewContext = Omit<BundlingContext, 'engine' | 'rules' | 'signers' | 'treasury'> & {
  readonly heads: Pick<HeadFollower, 'current'>
  readonly receipts: ReceiptMemory
}
