import type { Address } from 'viem'

/** A call (not a creation) that a contract makes. Its bytes are a view: copy them to keep them. */
export type InspectedCall = {
  /** 1 for a call by the outermost frame. */
  readonly depth: number
  readonly from: Address
  readonly to: Address
  readonly input: Uint8Array
}

/** The end of a call. The output is a view too. */
export type InspectedEnd = {
  readonly success: boolean
  readonly output: Uint8Array
  readonly gasUsed: number
  /**
   * The least gas with which it would have run in the same way: more than it used where it gets gas back or has to leave
   * some over (EIP-150). All it was given where it halted.
   */
  readonly gasNeeded: number
}

/**
 * An inspector sees every call below the outermost message and may change the result that the caller sees.
 * It is no contract: it costs no gas and leaves no trace in the record.
 */
export type Inspector = {
  /** Called before the call runs. A result takes the place of running it. */
  enter(call: InspectedCall): Pick<InspectedEnd, 'success' | 'output'> | undefined
  /** Called when the call has ended, run or replaced. Bytes take the place of its output. */
  leave(call: InspectedCall, end: InspectedEnd): Uint8Array | undefined
  /** Called when a frame reads its own gas (GAS); depth 0 is the outermost message. */
  readGas?(depth: number, gas: number): void
  /** Whether the record of the run ends before this call; asked before `enter`. Absent: it never does. */
  endsRecord?(call: InspectedCall): boolean
}
