import type { Address, Hex } from 'viem'
import { z } from 'zod'

export const chainId = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
export const hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash')

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
