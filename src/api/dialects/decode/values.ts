import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import { MAX_UINT256 } from '../../../erc4337/encoding/constants.js'
import type { ChainServices } from '../../services.js'

/** The part of a chain that decoding needs. */
export type DecodeContext = Pick<ChainServices, 'chainId' | 'entryPoints'>

/** A value of a request: its description in the documents, and its decoder. */
export type Input<Value> = {
  readonly json: z.ZodType
  /** @param field its path, for errors. Throws InvalidParamsError, UnsupportedEntryPointError. */
  readonly decode: (value: unknown, field: string, chain: DecodeContext) => Value
}

/** A value that may be missing or null. */
export function optional<Value>(input: Input<Value>): Input<Value | undefined>
export function optional<Value, Fallback>(
  input: Input<Value>,
  fallback: Fallback,
): Input<Value | Fallback>
export function optional<Value>({ json, decode }: Input<Value>, fallback?: Value): Input<unknown> {
  return {
    json: json.nullable().optional(),
    decode: (value, field, chain) =>
      value === undefined || value === null ? fallback : decode(value, field, chain),
  }
}

/** A list of at most `most` values. */
export function listOf<Value>({ json, decode }: Input<Value>, most?: number): Input<Value[]> {
  return {
    json: most === undefined ? z.array(json) : z.array(json).max(most),
    decode: (list, field, chain) => {
      if (!Array.isArray(list)) throw new InvalidParamsError(field, 'must be a list.')
      if (most !== undefined && list.length > most)
        throw new InvalidParamsError(field, `must be a list of at most ${most}.`)
      return list.map((element, index) => decode(element, `${field}[${index}]`, chain))
    },
  }
}

/** One of a few words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Input<Word> {
  return {
    json: z.enum(words),
    decode: (value, field) => {
      const word = words.find((each) => each === value)
      if (word !== undefined) return word
      throw new InvalidParamsError(
        field,
        `must be ${words.map((each) => `"${each}"`).join(' or ')}.`,
      )
    },
  }
}

export const flag: Input<boolean> = {
  json: z.boolean(),
  decode: (value, field) => {
    if (typeof value === 'boolean') return value
    throw new InvalidParamsError(field, 'must be true or false.')
  },
}

/** Text of at most so many characters. */
export function text(most = Number.POSITIVE_INFINITY): Input<string> {
  return {
    json: most === Number.POSITIVE_INFINITY ? z.string() : z.string().max(most),
    decode: (value, field) => {
      if (typeof value === 'string' && value.length <= most) return value
      const bound = Number.isFinite(most) ? ` of at most ${most} characters` : ''
      throw new InvalidParamsError(field, `must be a string${bound}.`)
    },
  }
}

export type Inputs = Readonly<Record<string, Input<unknown>>>
export type Decoded<Given extends Inputs> = {
  readonly [Name in keyof Given]: ReturnType<Given[Name]['decode']>
}

export function jsonOf(members: Inputs): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, { json }]) => [name, json]))
}

/** An object with these members, and others that nobody reads. */
export function objectOf<Given extends Inputs>(members: Given): Input<Decoded<Given>> {
  const entries = Object.entries(members)
  return {
    json: z.looseObject(jsonOf(members)),
    decode: (value, field, chain) => {
      const object = decodeObject(value, field)
      const decoded: Record<string, unknown> = {}
      for (const [name, input] of entries)
        decoded[name] = input.decode(member(object, name), `${field}.${name}`, chain)
      return decoded as Decoded<Given>
    },
  }
}

/** A JSON object of the caller. Read it with `member` only, so that prototypes stay out. */
export type Members = Readonly<Record<string, unknown>>

export function decodeObject(value: unknown, field: string): Members {
  if (value === undefined || value === null) throw new InvalidParamsError(field, 'is missing.')
  if (typeof value !== 'object' || Array.isArray(value))
    throw new InvalidParamsError(field, 'must be an object.')
  return value as Members
}

/** The object's own member; null counts as missing. */
export function member(object: Members, name: string): unknown {
  return memberOrNull(object, name) ?? undefined
}

/** The object's own member, where null is a value like any other. */
export function memberOrNull(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Bytes that call data, init code or code of a state override may have (EIP-3860 is below it). */
export const MAX_CODE_BYTES = 128 * 1024
/** Bytes that a signature or paymaster data may have. */
export const MAX_PROOF_BYTES = 32 * 1024

/** Bytes as lower-case hex with whole bytes. `field` is the path for the error. */
export function decodeBytes(value: unknown, field: string, maxBytes: number): Hex {
  if (value === undefined) throw new InvalidParamsError(field, 'is missing.')
  // Nearly all clients send lower case, which is tested and kept in half the time.
  const isLower = typeof value === 'string' && /^0x[0-9a-f]*$/.test(value)
  if (typeof value !== 'string' || !(isLower || /^0x[0-9a-f]*$/i.test(value)))
    throw new InvalidParamsError(field, 'must be a hex string that starts with 0x.')
  if (value.length % 2 === 1)
    throw new InvalidParamsError(field, 'must hold whole bytes: it has an odd number of digits.')
  if (value.length > 2 + 2 * maxBytes)
    throw new InvalidParamsError(field, `is longer than ${maxBytes} bytes.`)
  return (isLower ? value : value.toLowerCase()) as Hex
}

export function bytes(maxBytes: number): Input<Hex> {
  return { json: bytesIn, decode: (value, field) => decodeBytes(value, field, maxBytes) }
}
export const bytesIn = z.string().regex(/^0[xX]([0-9a-fA-F]{2})*$/)

/** Bytes as decodeBytes reads them; missing is `0x`. */
export function decodeOptionalBytes(value: unknown, field: string, maxBytes: number): Hex {
  return value === undefined ? '0x' : decodeBytes(value, field, maxBytes)
}

/** An address in lower case. Any case is taken: clients send both, so checksums are not enforced. */
export function decodeAddress(value: unknown, field: string): Address {
  if (value === undefined || value === null) throw new InvalidParamsError(field, 'is missing.')
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value))
    throw new InvalidParamsError(field, 'must be an address: 0x and 40 hex digits.')
  return value.toLowerCase() as Address
}

export const addressJson = z.string().regex(/^0[xX][0-9a-fA-F]{40}$/)
export const address: Input<Address> = {
  json: addressJson,
  decode: decodeAddress,
}

/** A 32-byte word; shorter hex is padded on the left. */
export function decodeWord(value: unknown, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new InvalidParamsError(field, 'must be a hex string of at most 32 bytes.')
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
}

/** A word in all its digits. `reason` is what an error says of any other value. */
function wholeWord(reason: string): Input<Hex> {
  return {
    json: z.string().regex(/^0[xX][0-9a-fA-F]{64}$/),
    decode: (value, field) => {
      if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value))
        return value.toLowerCase() as Hex
      throw new InvalidParamsError(field, reason)
    },
  }
}

export const userOpHash = wholeWord('Missing/invalid userOpHash: 0x and 64 hex digits are due.')
/** The hash of a block or transaction, or a topic. */
export const word = wholeWord('must be 0x and 64 hex digits.')
export const shortWordJson = z.string().regex(/^0[xX][0-9a-fA-F]{1,64}$/)
export const shortWord: Input<Hex> = {
  json: shortWordJson,
  decode: decodeWord,
}

/** Gas limits and fees above this make the EntryPoint fail with AA94. */
export const MAX_UINT120 = 2n ** 120n - 1n

/**
 * A quantity in any form that clients send: 0x hex (padded or not, any case), a decimal string, or
 * a JSON number that is exact. `field` is the path for the error.
 */
export function decodeQuantity(value: unknown, field: string, max = MAX_UINT256): bigint {
  const quantity = parse(value)
  if (quantity === undefined)
    throw new InvalidParamsError(
      field,
      isMissing(value)
        ? 'is missing.'
        : 'must be a quantity: a 0x hex string, a decimal string or a whole JSON number up to 2^53-1.',
    )
  if (quantity > max) throw new InvalidParamsError(field, aboveMax(max))
  return quantity
}

/** Hex, padded or not, a decimal string, or a JSON number that is exact. */
export const quantity: Input<bigint> = {
  json: z
    .union([
      z.string().regex(/^0[xX][0-9a-fA-F]{1,64}$/),
      z.string().regex(/^[0-9]{1,78}$/),
      z.int().min(0),
    ])
    .meta({
      id: 'QuantityTaken',
      description: 'Hex, decimal text, or a whole JSON number to 2^53-1',
    }),
  decode: (value, field) => decodeQuantity(value, field),
}

/** A quantity as decodeQuantity reads it; missing, null and `0x` are undefined. */
function decodeOptionalQuantity(
  value: unknown,
  field: string,
  max = MAX_UINT256,
): bigint | undefined {
  return isMissing(value) ? undefined : decodeQuantity(value, field, max)
}

/** Gas or wei per gas that must be there. */
export function decodeGas(value: unknown, field: string): bigint {
  return decodeQuantity(value, field, MAX_UINT120)
}

/** A fee that may be unset. Zero is a fee: an operation may pay no tip. */
export function decodeOptionalFee(value: unknown, field: string): bigint | undefined {
  return decodeOptionalQuantity(value, field, MAX_UINT120)
}

/** A gas limit that may be unset. Clients send zero for "not known yet", so zero is unset too. */
export function decodeOptionalGasLimit(value: unknown, field: string): bigint | undefined {
  return decodeOptionalQuantity(value, field, MAX_UINT120) || undefined
}

/** A whole number within [min, max], for what is a number inside (seconds, chain ids). */
export function decodeInteger(
  value: unknown,
  field: string,
  { min, max }: { min: number; max: number },
): number {
  const quantity = decodeQuantity(value, field)
  if (quantity < min || quantity > max)
    throw new InvalidParamsError(field, `must be from ${min} to ${max}.`)
  return Number(quantity)
}

/** A safe whole number, in the form of a quantity. */
export const integer: Input<number> = {
  json: quantity.json,
  decode: (value, field) => decodeInteger(value, field, { min: 0, max: Number.MAX_SAFE_INTEGER }),
}

export function isMissing(value: unknown): value is undefined | null | '0x' {
  return value === undefined || value === null || value === '0x'
}

function parse(value: unknown): bigint | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && form.test(value) ? BigInt(value) : undefined
}

/** At most 64 hex or 78 decimal digits: enough for uint256, and never slow to convert. */
const form = /^(?:0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})$/

function aboveMax(max: bigint): string {
  return max === MAX_UINT120
    ? 'AA94 gas values overflow: must fit in uint120.'
    : `is too large: must fit in uint${max.toString(2).length}.`
}
