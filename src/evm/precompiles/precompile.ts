/** A contract that the protocol itself provides. */
export type Precompile = {
  /** Gas for this input. */
  gas(input: Uint8Array): number
  /** Output, or undefined when the call fails and burns its gas. The result is never a view. */
  run(input: Uint8Array): Uint8Array | undefined
  /** Interpreter steps that take as long as one gas of this, so that a budget of steps holds. */
  stepsPerGas: number
}
