import type { Address, Hex } from 'viem'

/** One call that an account is going to make. Address lower case, value in wei. */
export type DecodedCall = {
  readonly to: Address
  readonly value: bigint
  readonly data: Hex
  /** Whether it runs the target's code as the account itself (delegatecall). */
  readonly delegate: boolean
}

/**
 * A reader of the arguments of one account function; it gives undefined for arguments that make no
 * sense.
 */
export type ReadCalls = (args: Hex) => readonly DecodedCall[] | undefined

/** The fields of a call in batches. */
export const callStructs = [
  {
    type: 'tuple[]',
    components: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const

export function plainCall(to: Address, value: bigint, data: Hex): DecodedCall {
  return {
    to: to.toLowerCase() as Address,
    value,
    data,
    delegate: false,
  }
}

/** The calls in arrays that belong together; undefined when their lengths differ. */
export function zipCalls(
  targets: readonly Address[],
  values: readonly bigint[],
  datas: readonly Hex[],
): readonly DecodedCall[] | undefined {
  return targets.length === values.length && targets.length === datas.length
    ? targets.map((to, index) => plainCall(to, values[index] ?? 0n, datas[index] ?? '0x'))
    : undefined
}
