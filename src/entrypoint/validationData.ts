import type { Address } from 'viem'

/** The parts of the word that validateUserOp and validatePaymasterUserOp return (ERC-4337). */
export type ValidationData = {
  /** Zero address: valid. `0x…01`: the signature failed. Else a signature aggregator. */
  readonly authorizer: Address
  /** Unix seconds, 0 = no bound. In v0.9 a block number when both bounds have their top bit set. */
  readonly validUntil: number
  /** Unix seconds, or block number as above. */
  readonly validAfter: number
}

/** The time in which an operation is valid, in Unix seconds; `validUntil` 0 = for ever. */
export type TimeRange = Pick<ValidationData, 'validAfter' | 'validUntil'>

/** Splits a validationData word: authorizer in the low 20 bytes, then validUntil, then validAfter. */
export function splitValidationData(word: bigint): ValidationData {
  return {
    authorizer: `0x${BigInt.asUintN(160, word).toString(16).padStart(40, '0')}`,
    validUntil: Number(BigInt.asUintN(48, word >> 160n)),
    validAfter: Number(BigInt.asUintN(48, word >> 208n)),
  }
}
