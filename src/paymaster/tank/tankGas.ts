import type { Operation } from '../../entrypoint/operation.js'

/** What a tank's validation reads: it copies and hashes these. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

const BASE = 30_000n
const PER_WORD = 30n
/** Memory costs the square of its words: 1/512 gas in each of EntryPoint and tank. */
const WORDS_SQUARED_PER_GAS = 192n

/**
 * paymasterVerificationGasLimit of an operation that a tank pays (v0.7 and later). From the
 * operation's length alone, so a stub and the final data name the same limit, whoever estimates in
 * between. A tank uses 20,800 gas on v0.7, and 22 gas per word + words² / 256 beside; the rest is
 * room for LIM-030 (4,000) and for chains that price a little dearer.
 */
export function tankVerificationGas(op: ReadByTank): bigint {
  return BASE + wordGas(op)
}

/** The part of it that depends on the operation's length; a token tank reads the same. */
export function wordGas({ factoryData, callData, signature }: ReadByTank): bigint {
  const digits = factoryData.length + callData.length + signature.length - 6
  const words = BigInt(Math.ceil(digits / 64))
  return PER_WORD * words + (words * words) / WORDS_SQUARED_PER_GAS
}
