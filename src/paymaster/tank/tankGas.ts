import type { Operation } from '../../entrypoint/operation.js'

/** The fields that a tank's validation copies and hashes. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

const BASE = 26_000n
const PER_WORD = 30n
/**
 * The words, squared, that cost 1 gas of memory: 1/512 gas in EntryPoint and tank each, with room.
 */
const WORDS_SQUARED_PER_GAS = 192n

/**
 * The paymasterVerificationGasLimit of an operation that a tank pays (v0.7 and later). It depends
 * on the operation's length alone, so a stub and the final data name the same limit, whoever
 * estimates in between. A tank uses 20,800 gas on v0.7, plus 22 gas per word and words² / 256; the
 * rest is room for LIM-030 (4,000) and for a change of code that costs a little more.
 */
export function tankVerificationGas(op: ReadByTank): bigint {
  return BASE + wordGas(op)
}

/** The gas that depends on the operation's length; a token tank reads the same fields. */
export function wordGas({ factoryData, callData, signature }: ReadByTank): bigint {
  const digits = factoryData.length + callData.length + signature.length - 6
  const words = BigInt(Math.ceil(digits / 64))
  return PER_WORD * words + (words * words) / WORDS_SQUARED_PER_GAS
}
