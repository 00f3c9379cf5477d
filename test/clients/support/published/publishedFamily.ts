import type { AccountFamily } from '../accountFamily.js'
import type { CheckoutName } from './checkouts.js'
import type { PublishedContract } from './publishedContract.js'

/** Accounts whose code is read from checkouts of the repositories that publish it; all of them must be there. */
export type PublishedFamily = AccountFamily & {
  readonly name: string
  readonly checkouts: readonly CheckoutName[]
  /** In the order in which they can be created: constructors ask some of those before. */
  readonly contracts: () => readonly PublishedContract[]
}
