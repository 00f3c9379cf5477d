import { z } from 'zod'

/** A private key, or the name of the environment variable that holds it. */
export const privateKey = z
  .string()
  .regex(
    /^(0x[0-9a-fA-F]{64}|env:\w+)$/,
    'must be a private key (0x and 64 hex digits) or env:NAME',
  )
