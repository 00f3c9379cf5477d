import type { Address, Hex } from 'viem'

/** A time of a query as a Date. */
export function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

/** An address or a hash as the database has it. */
export function lower<Text extends Address | Hex = Address>(
  text: string | undefined,
): Text | undefined {
  return text?.toLowerCase() as Text | undefined
}
