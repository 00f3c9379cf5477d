import type { Hex } from 'viem'
import type { EndedOperation } from '../store/records/endedOperations.js'

/** The steps of an operation's way, told when they are over. Times are Unix milliseconds. */
export type OperationTraces = {
  /**
   * Does the work of a request. Steps of operations that are told in it are linked to the span of the caller that the
   * header `traceparent` names; a header of another form counts as absent.
   */
  underCaller<Result>(traceparent: string | undefined, work: () => Result): Result
  /** A decision of this id sponsored the operation. */
  sponsored(step: TracedStep & { readonly decisionId: string }): void
  /** The operation was validated and stored. */
  admitted(step: TracedStep): void
  /** The operation was included or left the pool. Told by one process: the one that bundles for its chain. */
  ended(chainId: number, operation: EndedOperation): void
  /** Sends what waits, for at most some seconds. */
  close(): Promise<void>
}

export type TracedStep = {
  readonly chainId: number
  readonly userOpHash: Hex
  readonly appId: string
  readonly begin: number
}
