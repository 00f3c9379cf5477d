import type { AbiParameter } from 'viem'
import { isAddress, isHex } from 'viem/utils'
import type { Constraint, ValueComparison } from '../policy.js'

/** Whether the decoded value meets all comparisons; a value that cannot be compared does not. */
export function meets(value: unknown, comparisons: readonly ValueComparison[]): boolean {
  return comparisons.every((comparison) => meetsOne(value, comparison))
}

function meetsOne(value: unknown, comparison: ValueComparison): boolean {
  if (comparison.operator === '$in')
    return comparison.value.some((each) => meetsOne(value, { operator: '$eq', value: each }))
  if (typeof value === 'bigint' || typeof value === 'number') {
    const operand = asInteger(comparison.value)
    return operand !== undefined && compare[comparison.operator](BigInt(value), operand)
  }
  if (comparison.operator !== '$eq') return false
  if (typeof value === 'boolean') return String(value) === comparison.value
  if (typeof value !== 'string') return false
  return isHex(value)
    ? value.toLowerCase() === comparison.value.toLowerCase()
    : value === comparison.value
}

const compare = {
  $eq: (a: bigint, b: bigint) => a === b,
  $gt: (a: bigint, b: bigint) => a > b,
  $gte: (a: bigint, b: bigint) => a >= b,
  $lt: (a: bigint, b: bigint) => a < b,
  $lte: (a: bigint, b: bigint) => a <= b,
}

/** The integer in decimal or 0x text; undefined = it is no integer. */
function asInteger(text: string): bigint | undefined {
  return /^(-?\d{1,80}|0x[0-9a-fA-F]{1,64})$/.test(text) ? BigInt(text) : undefined
}

type Step = { readonly value: unknown; readonly parameter: AbiParameter }

/**
 * The decoded argument at a path; undefined when the path leads nowhere, e.g. past an array's end.
 */
export function argumentAt(
  inputs: readonly AbiParameter[],
  values: readonly unknown[],
  path: readonly number[],
): Step | undefined {
  const [first, ...rest] = path
  const parameter = inputs[first ?? -1]
  if (first === undefined || parameter === undefined) return undefined
  return rest.reduce<Step | undefined>((step, index) => step && member(step, index), {
    value: values[first],
    parameter,
  })
}

/**
 * A member of an array or tuple. viem gives tuples by name, or as arrays when a member has no name.
 */
function member({ value, parameter }: Step, index: number): Step | undefined {
  const element = elementOf(parameter, index)
  if (element === undefined) return undefined
  if (value === undefined) return { value: undefined, parameter: element }
  const inside = Array.isArray(value)
    ? value[index]
    : (value as Record<string, unknown>)[element.name ?? '']
  return { value: inside, parameter: element }
}

function elementOf(parameter: AbiParameter, index: number): AbiParameter | undefined {
  const array = /^(.*)\[\d*\]$/.exec(parameter.type)
  if (array) return { ...parameter, type: array[1] ?? '' }
  return 'components' in parameter ? parameter.components[index] : undefined
}

/** The mistake in a constraint on these parameters; undefined when it can be decided. */
export function constraintMistake(
  inputs: readonly AbiParameter[],
  { path, comparisons }: Constraint,
): string | undefined {
  const at = `where ${path.join('.')}`
  const parameter = argumentAt(inputs, [], path)?.parameter
  if (parameter === undefined) return `${at}: the function signature has no such parameter`
  const { type } = parameter
  for (const { operator, value } of comparisons) {
    for (const text of typeof value === 'string' ? [value] : value) {
      if (!fits(type, text)) return `${at}: ${text} is no ${type}`
    }
    if (!/^u?int\d*$/.test(type) && operator !== '$eq' && operator !== '$in')
      return `${at}: ${operator} is for numbers, the parameter is ${type}`
  }
  return undefined
}

function fits(type: string, text: string): boolean {
  if (/^u?int\d*$/.test(type)) return asInteger(text) !== undefined
  if (type === 'bool') return text === 'true' || text === 'false'
  if (type === 'address') return isAddress(text, { strict: false })
  if (/^bytes\d*$/.test(type)) return isHex(text)
  return type === 'string'
}

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
  const named = comparisons.flatMap(({ value }) => value)
  const range = integerRange(type)
  if (range === undefined)
    return named.some((text) => isOf(type, text) && meets(decoded(type, text), comparisons))
  // The set of values that pass lies between two operands, or consists of such.
  const candidates = [...range, ...named.flatMap((text) => around(asInteger(text)))]
  const [lowest, highest] = range
  return candidates.some((each) => each >= lowest && each <= highest && meets(each, comparisons))
}

/** An operand and the integers next to it: every non-empty range of integers has one of these as an end. */
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
