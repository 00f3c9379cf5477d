import type { Address } from 'viem'

/** A call (not a creation) that a contract makes. Its bytes are a view: copy what is to be kept. */
export type WatchedCall = {
  /** 1 for a call by the outermost frame. */
  readonly depth: number
  readonly from: Address
  readonly to: Address
  readonly input: Uint8Array
}

/** How a call ended. The output is a view too. */
export type WatchedEnd = {
  readonly success: boolean
  readonly output: Uint8Array
  readonly gasUsed: number
}

/**
 * Sees every call below the outermost message, and may change what its caller gets to see of it. A
 * watcher is no contract: what it does costs no gas and leaves no trace in the record.
 */
export type Watcher = {
  /** Before the call runs. An answer stands in for running it. */
  enter(call: WatchedCall): Pick<WatchedEnd, 'success' | 'output'> | undefined
  /** When it has ended, stood in for or not. Bytes take the place of its output. */
  leave(call: WatchedCall, end: WatchedEnd): Uint8Array | undefined
}
