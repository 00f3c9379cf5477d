import { MAX_UINT256 } from '../../../encoding/constants.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'

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
