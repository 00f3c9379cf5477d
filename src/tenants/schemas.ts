import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { roles } from '../base/vocabulary.js'
import { uuid } from '../db/uuid.js'

export const id = z.uuid()
export const time = z.iso.datetime().brand<'time'>()
/** A time of a request. */
export const date = time.transform((text) => new Date(text))
/** When a credential ends. */
export const end = time
  .refine((text) => Date.parse(text) > Date.now(), 'must be in the future')
  .transform((text) => new Date(text))
export const wei = z.string().regex(/^\d{1,78}$/, 'must be wei as a decimal number')
/** An amount that may be negative. */
export const signed = z.string().regex(/^-?\d+$/)
export const hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash')
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
/** Those of a request, as the database has them. */
export const lowerHash = hash.transform((text) => text.toLowerCase() as Hex)
export const lowerAddress = address.transform((text) => text.toLowerCase() as Address)

/** A value of the schema as the database has it: times are dates. */
export type Row<Schema extends z.ZodType> = Inside<z.output<Schema>, string>

/** A value that becomes this answer: times are dates, and wei and other large numbers may be bigints. */
export type AnswerOf<Schema extends z.ZodType> = Inside<z.output<Schema>, string | bigint>

type Inside<Value, Text> =
  Value extends z.output<typeof time>
    ? Date
    : Value extends string
      ? string extends Value
        ? Text
        : Value
      : Value extends readonly (infer Item)[]
        ? readonly Inside<Item, Text>[]
        : Value extends object
          ? { readonly [Name in keyof Value]: Inside<Value[Name], Text> }
          : Value

/** A name for people; one that spans lines would break lists. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be printable')

/** A code of a query, as `base/errors/explain.ts` knows them: AA25, STO-021, BUDGET_EXCEEDED, -32508. */
export const code = z.string().regex(/^[A-Z0-9_-]{1,60}$/, 'must be a code')

/** The id of a chain in a path or a query. */
export const chainId = z.coerce.number<number>().int().min(1).max(Number.MAX_SAFE_INTEGER)

/** The parameters of paths that are no UUID. */
const params: Readonly<Record<string, z.ZodType>> = {
  chainId,
  userOpHash: lowerHash,
  bundleId: z.string().regex(/^\d{1,18}$/),
}

/** The schema of the parameters of a path: `{chainId}`. */
export function paramsOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
  if (names.length === 0) return undefined
  return z.object(Object.fromEntries(names.map((param) => [param, params[param] ?? id])))
}

/** The query of a list, newest first: `before` is the `next` of an earlier answer, of this form. */
export function pageQuery(next: RegExp) {
  return z.strictObject({
    limit: z.coerce.number<number>().int().min(1).max(200).default(50),
    before: z.string().max(200).regex(next, 'must be the `next` of an earlier answer').optional(),
  })
}
/** Rows with a UUID. */
export const pageById = pageQuery(uuid)
/** Rows with a number. */
export const pageByNumber = pageQuery(/^\d{1,18}$/)
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().optional() })
}
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item) })
}

/** The answer to changes that have nothing to report. */
export const done = z.object({ done: z.literal(true) })

export const role = z.enum(roles)
export const email = z.string().max(254)
/** As it is sent; what a new one must be is said by `requireGoodPassword`. */
export const password = z.string().min(1).max(512)

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
