import type { StateOverride } from '../../chain/stateOverride.js'
import type { Unfinished } from '../../chain/stateProvider.js'
import type { BlockEnv, State } from '../../evm/index.js'

/** The block on which an operation is run, the state of it that is known, and what the caller pretends of it. */
export type Ground = {
  readonly block: BlockEnv
  readonly known: State
  readonly override: StateOverride
}

/** The part of the work of one operation that a thread does at once. */
export type Allowance = {
  /** Steps that one run may take here. */
  readonly runSteps: number
  /** Asked before each run but the first: whether the thread may do it too. */
  readonly mayGoOn: () => boolean
}

/** The end of a part of the work that is not the end of all of it. */
export type Interrupted =
  /** The thread did its part; the rest can be done anywhere. */
  | { readonly kind: 'paused' }
  /** A run needs more steps than it may take here. */
  | { readonly kind: 'outgrown' }

/** The end of a part of the work, which came to its end, cannot, or is to go on. */
export type PassEnd<Done> = Done | Unfinished | Interrupted
