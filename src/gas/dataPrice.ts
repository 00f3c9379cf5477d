/** The price that a chain takes for a transaction's bytes, beside its gas, as of one block. */
export type DataPrice = {
  /** The size of signed bytes (EIP-2718, without a string header) for which the chain charges. */
  readonly sizeOf: (signed: Uint8Array) => number
  /** wei for a transaction of this size */
  readonly feeOf: (size: number) => bigint
  /** wei that the chain takes for the gas that a transaction used, beside the gas price. */
  readonly operatorFeeOf: (gasUsed: bigint) => bigint
  /** The same as wei per gas, rounded up, and wei per transaction. */
  readonly operatorPerGas: bigint
  readonly operatorConstant: bigint
  /** wei per gas: no base fee of the coming blocks is lower. */
  readonly lowestBaseFee: bigint
  /** Whether the chain takes the fee as gas of the transaction, out of its gas limit. */
  readonly isInsideGas: boolean
}

/** How far L1's base fee may rise from one of its blocks to the next: one part in eight (EIP-1559). */
const STEP_NUMERATOR = 9n
const STEP_DENOMINATOR = 8n

/** The price of data after L1's price has risen by so many steps, the most that as many of its blocks can bring. */
export function afterSteps(price: DataPrice, steps: number): DataPrice {
  const numerator = STEP_NUMERATOR ** BigInt(steps)
  const denominator = STEP_DENOMINATOR ** BigInt(steps)
  const feeOf = (size: number): bigint =>
    (price.feeOf(size) * numerator + denominator - 1n) / denominator
  return { ...price, feeOf }
}
