import type { Address } from 'viem'
import { z } from 'zod'

/** Lower case. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address (0x and 40 hex digits)')
  .transform((value) => value.toLowerCase() as Address)
