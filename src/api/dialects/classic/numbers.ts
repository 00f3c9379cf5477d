import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'

/** A JSON number where it is exact, else the exact hex string: never a rounded number. */
export function encodeNumber(value: bigint): number | Hex {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : numberToHex(value)
}

/** The digits of an ethers v5 BigNumber: whole bytes. */
function encodeWholeBytes(value: bigint): Hex {
  const digits = value.toString(16)
  return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`
}

/** An ethers v5 BigNumber as `JSON.stringify` of its fields gives it, in receipts. */
export function encodeBigNumberFields(value: bigint) {
  return {
    _hex: encodeWholeBytes(value),
    _isBigNumber: true,
  }
}

/** An ethers v5 BigNumber as its own `toJSON` gives it, in estimates. */
export function encodeBigNumber(value: bigint) {
  return {
    type: 'BigNumber',
    hex: encodeWholeBytes(value),
  }
}
