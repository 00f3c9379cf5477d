import { z } from 'zod'
import { rpcMethods } from './rpcMethods.js'
import { quotas, time } from './schemas.js'

const range = z
  .string()
  .refine(
    (text) => z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).safeParse(text).success,
    'must be an IP address or a CIDR range',
  )
const origin = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://dapp.example',
  )

/** The limits of a key as administration takes them. */
export const keyLimits = z.strictObject({
  scopes: z
    .array(z.enum(['bundler', 'paymaster']))
    .min(1)
    .max(2),
  methods: z.array(z.enum(rpcMethods)).min(1).max(50).nullable(),
  allowedOrigins: z.array(origin).min(1).max(50).nullable(),
  allowedIps: z.array(range).min(1).max(50).nullable(),
  expiresAt: time.nullable(),
  quotas,
})
