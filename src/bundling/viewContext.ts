import type { HeadFollower } from '../chain/headFollower.js'
import type { BundlingContext } from './bundlingContext.js'
import type { ReceiptMemory } from './createReceiptMemory.js'

/** What answering questions about operations of one chain works with. */
export type ViewContext = Omit<
  BundlingContext,
  'logger' | 'engine' | 'rules' | 'signers' | 'treasury'
> & {
  readonly heads: Pick<HeadFollower, 'current'>
  readonly receipts: ReceiptMemory
}
