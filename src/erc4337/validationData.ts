import type { Address } from 'viem'
import { greatest, smallest } from '../base/bigints.js'

/** The parts of the word that validateUserOp and validatePaymasterUserOp return (ERC-4337). */
type ValidationData = {
  /** Zero address: valid. `0x…01`: the signature failed. Else a signature aggregator. */
  readonly authorizer: Address
  /** Unix seconds, 0 = no bound. In v0.9 a block number when both bounds have their top bit set. */
  readonly validUntil: number
  /** Unix seconds, or block number as above. */
  readonly validAfter: number
}

/** The time in which an operation is valid, in Unix seconds; `validUntil` 0 = for ever. */
export type TimeRange = Pick<ValidationData, 'validAfter' | 'validUntil'>

/** The times and blocks in which an operation is valid; 0 = no bound. */
export type Validity = TimeRange & {
  /** Blocks of v0.9: the first one is `after` + 1, `until` is the last one. */
  readonly blocks: { readonly after: bigint; readonly until: bigint }
}

/** The bit that makes a bound a block number when both bounds have it (v0.9). */
const BLOCK_FLAG = 2 ** 47

/** The intersection of the ranges in these words of validationData. */
export function intersectValidity(
  { hasBlockRanges }: { readonly hasBlockRanges: boolean },
  words: readonly bigint[],
): Validity {
  let [validAfter, validUntil] = [0, 0]
  let [after, until] = [0n, 0n]
  for (const word of words) {
    const range = splitValidationData(word)
    if (hasBlockRanges && range.validAfter >= BLOCK_FLAG && range.validUntil >= BLOCK_FLAG) {
      const end = BigInt(range.validUntil - BLOCK_FLAG)
      after = greatest(after, BigInt(range.validAfter - BLOCK_FLAG))
      until = until === 0n ? end : smallest(until, end)
    } else {
      validAfter = Math.max(validAfter, range.validAfter)
      const isEarlier = validUntil === 0 || range.validUntil < validUntil
      if (range.validUntil !== 0 && isEarlier) validUntil = range.validUntil
    }
  }
  return { validAfter, validUntil, blocks: { after, until } }
}

/** Splits a validationData word: authorizer in the low 20 bytes, then validUntil, then validAfter. */
export function splitValidationData(word: bigint): ValidationData {
  return {
    authorizer: `0x${BigInt.asUintN(160, word).toString(16).padStart(40, '0')}`,
    validUntil: Number(BigInt.asUintN(48, word >> 160n)),
    validAfter: Number(BigInt.asUintN(48, word >> 208n)),
  }
}

/** A block, by what the EntryPoint compares with validity. */
type Moment = { readonly number: bigint; readonly timestamp: number }

/** Whether the validity ends before this block. */
export function endsBefore(
  { validUntil, blocks }: Validity,
  { number, timestamp }: Moment,
): boolean {
  return (
    (validUntil !== 0 && validUntil < timestamp) || (blocks.until !== 0n && blocks.until < number)
  )
}
