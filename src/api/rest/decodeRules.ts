import type { AbiFunction, Address } from 'viem'
import { parseEther, toFunctionSignature } from 'viem/utils'
import { InvalidFieldError } from '../../errors/restErrors.js'
import type { ContractRule, LimitRule } from '../../policy/dashboardTerms.js'
import { cycleSeconds } from '../../policy/dashboardTerms.js'
import { type Members, member } from '../dialects/decode/members.js'

/** Text of 1 to 100 characters that the database can hold. */
export function decodeName(body: Members): string {
  const name = member(body, 'name')
  if (typeof name !== 'string') throw new InvalidFieldError('name', 'must be a string')
  if (name === '' || name.length > 100 || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new InvalidFieldError('name', 'must have 1 to 100 characters')
  return name
}

export function decodeRuleAddress(body: Members): Address {
  const address = member(body, 'address')
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new InvalidFieldError('address', 'must be an address (0x and 40 hex digits)')
  return address.toLowerCase() as Address
}

/** The names in `whitelistedMethods`, and the signatures of every function of the ABI so named. */
export function decodeMethods(
  given: unknown,
  abi: string,
): Pick<ContractRule, 'whitelistedMethods' | 'functions'> {
  if (!Array.isArray(given)) throw new InvalidFieldError('whitelistedMethods', 'must be an array')
  const functions = functionsOf(abi)
  const names = new Set(functions.map(({ name }) => name))
  const unknown = given.findIndex((name) => !names.has(name))
  if (unknown >= 0)
    throw new InvalidFieldError(`whitelistedMethods[${unknown}]`, 'must name a function of the abi')
  const whitelistedMethods = [...new Set(given as string[])]
  return {
    whitelistedMethods,
    functions: functions
      .filter(({ name }) => whitelistedMethods.includes(name))
      .map((item) => toFunctionSignature(item)),
  }
}

export function decodeAbi(body: Members): string {
  const abi = member(body, 'abi')
  if (typeof abi !== 'string') throw new InvalidFieldError('abi', 'must be a string')
  if (/[\0\p{Cs}]/u.test(abi)) throw new InvalidFieldError('abi', 'must be a stringified ABI')
  functionsOf(abi)
  return abi
}

/** The functions of a stringified ABI. Throws InvalidFieldError where the text is no ABI. */
function functionsOf(abi: string): readonly AbiFunction[] {
  try {
    const items = JSON.parse(abi) as readonly { readonly type?: unknown }[]
    const functions = items.filter((item) => item.type === 'function') as AbiFunction[]
    for (const item of functions) toFunctionSignature(item)
    return functions
  } catch {
    // JSON.parse and viem say what they stumbled over, which is no sentence for a script's author.
    throw new InvalidFieldError('abi', 'must be a stringified ABI')
  }
}

const LONGEST_CYCLE = 31 * 86_400

/** A spending limit; what `body` leaves out stays as in `known`. */
export function decodeLimit(body: Members, known?: LimitRule): LimitRule {
  const given = (name: keyof LimitRule) => member(body, name) ?? known?.[name]
  const type = oneOf('type', given('type'), ['PAYMASTER', 'SMART_ACCOUNT'])
  const thresholdType = oneOf('thresholdType', given('thresholdType'), ['COUNT', 'NATIVE_ASSET'])
  const cycleDuration = decodeCycle(given('cycleDuration'))
  const threshold = given('threshold')
  if (typeof threshold !== 'number' || threshold < 0 || threshold > 1_000_000_000)
    throw new InvalidFieldError('threshold', 'must be a number from 0 to 1000000000')
  if (thresholdType === 'COUNT' && !Number.isInteger(threshold))
    throw new InvalidFieldError('threshold', 'must be a whole number of operations')
  const text = String(threshold)
  const limit =
    thresholdType === 'COUNT'
      ? text
      : parseEther(text.includes('e') ? threshold.toFixed(18) : text).toString()
  return { type, cycleDuration, threshold, thresholdType, limit }
}

function decodeCycle(value: unknown): LimitRule['cycleDuration'] {
  const cycle = (typeof value === 'object' && value !== null ? value : {}) as Members
  const unit = oneOf('cycleDuration.unit', member(cycle, 'unit'), ['hour', 'day'])
  const amount = member(cycle, 'value')
  if (typeof amount !== 'number' || !Number.isInteger(amount) || amount < 1)
    throw new InvalidFieldError('cycleDuration.value', 'must be a whole number from 1')
  if (cycleSeconds({ value: amount, unit }) > LONGEST_CYCLE)
    throw new InvalidFieldError('cycleDuration', 'must not exceed 31 days')
  return { value: amount, unit }
}

function oneOf<Value extends string>(
  field: string,
  value: unknown,
  values: readonly Value[],
): Value {
  const found = values.find((each) => each === value)
  if (found === undefined)
    throw new InvalidFieldError(field, `must be ${values.map((each) => `"${each}"`).join(' or ')}`)
  return found
}
