import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'

/** A JSON number where it is exact, else the exact hex string: never a rounded number. */
export const encodeNumber = (value: bigint): number | Hex =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : numberToHex(value)

/** The digits of an ethers v5 BigNumber: whole bytes. */
const encodeWholeBytes = (value: bigint): Hex => {
  const digits = value.toString(16)
  return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}`
}

/** An ethers v5 BigNumber as `JSON.stringify` of its fields gives it, in receipts. */
export const encodeBigNumberFields = (value: bigint) => ({
  _hex: encodeWholeBytes(value),
  _isBigNumber: true,
})

/** An ethers v5 BigNumber as its own `toJSON` gives it, in estimates. */
export const encodeBigNumber = (value: bigint) => ({
  type: 'BigNumber',
  hex: encodeWholeBytes(value),
})
