import { z } from 'zod'
import { roles } from '../base/vocabulary.js'
import { isSponsorIcon, sponsorIconRule } from './sponsorIcon.js'

export const id = z.uuid()
export const time = z.iso.datetime()
export const wei = z.string().regex(/^\d{1,78}$/, 'must be wei as a decimal number')
export const hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash')
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')

/** A name for people; one that spans lines would break lists. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be printable')

/** The id of a chain in a path or a query. */
export const chainId = z.coerce.number<number>().int().min(1).max(Number.MAX_SAFE_INTEGER)

/** The parameters of paths that are no UUID. */
const params: Readonly<Record<string, z.ZodType>> = {
  chainId,
  userOpHash: hash,
  bundleId: z.string().regex(/^\d{1,18}$/),
}

/** The schema of the parameters of a path: `{chainId}`. */
export function paramsOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
  if (names.length === 0) return undefined
  return z.object(Object.fromEntries(names.map((param) => [param, params[param] ?? id])))
}

/** Newest first. `next` of an answer is `before` of the next request. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number<number>().int().min(1).max(200).default(50),
  before: z.string().max(200).optional(),
})
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().optional() })
}
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item) })
}

/** The answer to changes that have nothing to tell. */
export const done = z.object({ done: z.literal(true) })

export const account = z.object({
  id,
  name: z.string(),
  createdAt: time,
  revokedAt: time.nullable(),
})
export const accountWithToken = z.object({ account, authToken: z.string() })

export const role = z.enum(roles)
export const email = z.string().max(254)
/** As it is sent; what a new one must be is said by `requireGoodPassword`. */
export const password = z.string().min(1).max(512)

/** A token of an account, without the token itself. */
export const authToken = z.object({
  id,
  name: z.string(),
  role,
  last4: z.string().nullable(),
  /** The account's `authToken`, which the operator can replace. */
  isFirst: z.boolean(),
  createdAt: time,
  expiresAt: time.nullable(),
  /** To the minute. */
  lastUsedAt: time.nullable(),
})

export const user = z.object({
  id,
  email,
  name: z.string(),
  isOperator: z.boolean(),
  hasPassword: z.boolean(),
  createdAt: time,
  disabledAt: time.nullable(),
})
export const session = z.object({
  id,
  createdAt: time,
  /** The last request, to the minute. */
  seenAt: time,
  expiresAt: time,
  ip: z.string().nullable(),
  agent: z.string().nullable(),
})
export const member = z.object({
  userId: id,
  email,
  name: z.string(),
  role,
  createdAt: time,
  disabledAt: time.nullable(),
})
export const invitation = z.object({
  id,
  email,
  role: role.nullable(),
  createdAt: time,
  expiresAt: time,
})
/** An invitation with its token, to be passed on: the first to use the token accepts it. */
export const invitationWithToken = z.object({ invitation, token: z.string() })

/** Who pays, as wallets show it (ERC-7677). */
export const sponsor = z.strictObject({
  name,
  icon: z.string().refine(isSponsorIcon, `must be ${sponsorIconRule}`).optional(),
})

const quota = z.int().min(1).max(1_000_000_000)
/** Requests of a key, or of all keys of an app; over all processes. */
export const quotas = z
  .strictObject({ perSecond: quota, perMinute: quota, perDay: quota })
  .partial()
  .nullable()

export const app = z.object({
  id,
  accountId: id,
  name: z.string(),
  sponsor: z.object({ name: z.string(), icon: z.string().optional() }).nullable(),
  quotas,
  createdAt: time,
  revokedAt: time.nullable(),
})

export const key = z.object({
  id,
  appId: id,
  name: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(['bundler', 'paymaster'])),
  methods: z.array(z.string()).nullable(),
  allowedOrigins: z.array(z.string()).nullable(),
  allowedIps: z.array(z.string()).nullable(),
  expiresAt: time.nullable(),
  quotas,
  rotatedFrom: id.nullable(),
  createdAt: time,
  revokedAt: time.nullable(),
  /** To the minute. */
  lastUsedAt: time.nullable(),
})
export const keyWithSecret = z.object({ key, apiKey: z.string() })

export const signingSecret = z.object({ signingSecret: z.string() })

export const auditEntry = z.object({
  id: z.string(),
  at: time,
  actor: z.enum(['operator', 'account', 'token', 'user', 'command']),
  actorId: z.string().nullable(),
  ip: z.string().nullable(),
  requestId: z.string().nullable(),
  action: z.string(),
  objectId: z.string(),
  accountId: id.nullable(),
  appId: id.nullable(),
  before: z.unknown(),
  after: z.unknown(),
  /** SHA-256, hex, over the hash before it and this entry. */
  hash: z.string(),
})

/** What a code means, who can fix it, and how. */
export const explanation = z.object({
  code: z.string(),
  meaning: z.string(),
  culprit: z.enum(['user', 'app', 'operator', 'chain']),
  steps: z.array(z.string()),
  docs: z.string(),
})

/** The answer of every refusal. */
export const failure = z.object({
  statusCode: z.int(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()).optional(),
})
