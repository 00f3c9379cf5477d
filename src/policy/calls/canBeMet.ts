import type { AbiParameter } from 'viem'
import type { Constraint, ValueComparison } from '../policy.js'
import { argumentAt, asInteger, meets } from './constraint.js'

/**
 * Whether some argument of this function passes the constraints on it, all of which have one path. False where they
 * contradict each other, as `$gt` 5 and `$lt` 5 do, and where the type has no such value: 300 for uint8.
 */
export function canBeMet(
  inputs: readonly AbiParameter[],
  constraints: readonly [Constraint, ...Constraint[]],
): boolean {
  const { type = '' } = argumentAt(inputs, [], constraints[0].path)?.parameter ?? {}
  const comparisons = constraints.flatMap((each) => each.comparisons)
  const named = comparisons.flatMap(valuesNamed)
  const range = integerRange(type)
  if (range === undefined)
    return named.some((text) => isOf(type, text) && meets(decoded(type, text), comparisons))
  // The set of values that pass lies between two operands, or consists of such.
  const candidates = [...range, ...named.flatMap((text) => around(asInteger(text)))]
  const [lowest, highest] = range
  return candidates.some((each) => each >= lowest && each <= highest && meets(each, comparisons))
}

function valuesNamed({ value }: ValueComparison): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

/** An operand and the integers beside it: a range of integers that is not empty has one of these as an end. */
function around(operand: bigint | undefined): readonly bigint[] {
  return operand === undefined ? [] : [operand - 1n, operand, operand + 1n]
}

/** The least and the greatest value of an integer type; undefined for other types. */
function integerRange(type: string): readonly [bigint, bigint] | undefined {
  const matched = /^(u?)int(\d*)$/.exec(type)
  if (matched === null) return undefined
  const bits = BigInt(matched[2] || '256')
  return matched[1] === 'u' ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
}

function isOf(type: string, text: string): boolean {
  const bytes = /^bytes(\d+)$/.exec(type)?.[1]
  return bytes === undefined || text.length === 2 + 2 * Number(bytes)
}

/** The value as a decoder gives it. */
function decoded(type: string, text: string): unknown {
  return type === 'bool' ? text === 'true' : text
}
