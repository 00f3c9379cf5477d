import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'

/** The fields that a tank's validation copies and hashes. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

const BASE = 26_000n
const PER_WORD = 30n
/**
 * The words, squared, that cost 1 gas of memory: 1/512 gas in EntryPoint and tank each, with a margin.
 */
const WORDS_SQUARED_PER_GAS = 192n

/**
 * The paymasterVerificationGasLimit of an operation that a tank pays (v0.7 and later). It depends
 * on the operation's length alone, so a stub and the final data name the same limit, whatever
 * is estimated in between. A tank uses 20,800 gas on v0.7, plus 22 gas per word and words² / 256; the
 * rest is a margin for LIM-030 (4,000) and for a contract that costs a little more.
 */
export function tankVerificationGas({ gas }: Pick<EntryPoint, 'gas'>, op: ReadByTank): bigint {
  return BASE + wordGas(op) + surchargeOf(gas, { slots: 0, changes: DEPOSIT })
}

/** The tank's deposit, which the EntryPoint lowers within its paymasterVerificationGasLimit. */
export const DEPOSIT = 1

/** Storage that a phase touches at most: slots that were empty, and others that it changes. */
export type TouchedSlots = { readonly slots: number; readonly changes: number }

/** Gas by which these cost more on the chain than where our contracts were measured (`ForkGas.surcharge`). */
export function surchargeOf(gas: EntryPoint['gas'], { slots, changes }: TouchedSlots): bigint {
  const { surcharge } = gas()
  return BigInt(surcharge.slot * slots + surcharge.change * changes)
}

/** The gas that depends on the operation's length; a token tank reads the same fields. */
export function wordGas({ factoryData, callData, signature }: ReadByTank): bigint {
  const digits = factoryData.length + callData.length + signature.length - 6
  const words = BigInt(Math.ceil(digits / 64))
  return PER_WORD * words + (words * words) / WORDS_SQUARED_PER_GAS
}
