import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeObject, type Members, member } from '../../dialects/decode/members.js'

/** The fields of an operation that a client may set, or have multiplied, before the paymaster signs. */
export const overridable = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
] as const

type Overridable = (typeof overridable)[number]

/** Millionths by which an estimate is multiplied. */
export type Multipliers = { readonly [Field in Overridable]?: bigint }

const MILLION = 1_000_000
/** Nothing above it is meant: the default of Alchemy's client is 1.5. */
const MAX_MULTIPLIER = 10

export type AlchemyOverrides = {
  /** Quantities as the client wrote them, to be decoded with the operation. */
  readonly absolute: Members
  readonly multipliers: Multipliers
}

/** `{maxFeePerGas: "0x…" | {multiplier: 1.5}, …}` */
export function decodeOverrides(value: unknown, field: string): AlchemyOverrides {
  if (value === undefined || value === null) return { absolute: {}, multipliers: {} }
  const overrides = decodeObject(value, field)
  const named = overridable
    .map((name) => [name, member(overrides, name)] as const)
    .filter(([, override]) => override !== undefined)
  return {
    absolute: Object.fromEntries(named.filter(([, override]) => typeof override !== 'object')),
    multipliers: Object.fromEntries(
      named
        .filter(([, override]) => typeof override === 'object')
        .map(([name, override]) => [name, decodeMultiplier(override, `${field}.${name}`)]),
    ),
  }
}

/** `quantity` times the multiplier of a field, rounded up; as it is where the field has none. */
export function multiplied(quantity: bigint, multiplier: bigint | undefined): bigint {
  if (multiplier === undefined) return quantity
  return (quantity * multiplier + BigInt(MILLION) - 1n) / BigInt(MILLION)
}

function decodeMultiplier(value: unknown, field: string): bigint {
  const multiplier = member(decodeObject(value, field), 'multiplier')
  if (typeof multiplier !== 'number' || !(multiplier > 0 && multiplier <= MAX_MULTIPLIER))
    throw new InvalidParamsError(
      `${field}.multiplier`,
      `must be a number above 0, at most ${MAX_MULTIPLIER}.`,
    )
  return BigInt(Math.round(multiplier * MILLION))
}
