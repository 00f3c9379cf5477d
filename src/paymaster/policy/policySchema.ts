import type { AbiFunction, Address, Hex } from 'viem'
import { parseAbiItem, toFunctionSelector } from 'viem/utils'
import { z } from 'zod'
import { exactRecord } from '../../base/exactRecord.js'
import { budgetKey } from './budget/budget.js'
import { constraintMistake } from './calls/constraint.js'
import { type AllowedCall, type Budget, budgetSubjects, type ValueComparison } from './policy.js'
import { parseUsd } from './price.js'

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address (0x and 40 hex digits)')
  .transform((value) => value.toLowerCase() as Address)

const wei = z
  .string()
  .regex(/^\d{1,77}$/, 'must be a whole number of wei as decimal text')
  .transform(BigInt)

const usd = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be an amount like "1.50", at most 6 decimals')
  .transform(parseUsd)

const seconds = z.int().min(0).max(0xffff_ffff_ffff)

const limit = z.union(
  [
    z.strictObject({ wei }).transform(({ wei }) => ({ unit: 'wei' as const, limit: wei })),
    z.strictObject({ usd }).transform(({ usd }) => ({ unit: 'usd' as const, limit: usd })),
    z
      .strictObject({ count: z.int().min(0).max(1_000_000_000) })
      .transform(({ count }) => ({ unit: 'count' as const, limit: BigInt(count) })),
  ],
  'must be {"wei"}, {"usd"} or {"count"} with an amount that is not negative',
)

/** 31 days in seconds: older counters are neither counted nor kept. */
const LONGEST_ROLLING = 2_678_400

const window = z.union(
  [
    z.enum(['never', 'hour', 'day', 'week', 'month']),
    z.strictObject({ rollingSeconds: z.int().min(60).max(LONGEST_ROLLING) }),
  ],
  'must be never, hour, day, week, month or {"rollingSeconds"} from 60 to 2678400',
)

const budget = z
  .strictObject({
    per: z.enum(['operation', ...budgetSubjects]),
    limit,
    window: window.optional(),
  })
  .transform(({ per, limit, window }, context): Budget => {
    if (per === 'operation') {
      if (limit.unit !== 'count' && window === undefined)
        return { per, unit: limit.unit, limit: limit.limit }
      context.addIssue('of one operation has no window and no count')
      return z.NEVER
    }
    return { per, ...limit, window: window ?? 'never' }
  })

const operators = ['$eq', '$gt', '$gte', '$lt', '$lte'] as const
const operand = z.string().min(1).max(2_000)

const comparisons = z
  .strictObject({
    $eq: operand.optional(),
    $gt: operand.optional(),
    $gte: operand.optional(),
    $lt: operand.optional(),
    $lte: operand.optional(),
    $in: z.array(operand).min(1).max(500).optional(),
  })
  .transform((byOperator): ValueComparison[] => [
    ...operators.flatMap((operator) => {
      const value = byOperator[operator]
      return value === undefined ? [] : [{ operator, value }]
    }),
    ...(byOperator.$in ? [{ operator: '$in' as const, value: byOperator.$in }] : []),
  ])
  .refine((list) => list.length > 0, 'needs an operator such as "$eq"')

const path = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,3})*$/, 'must be positions of parameters such as "0" or "0.2"')

const selector = /^0x[0-9a-fA-F]{8}$/

/** A selector, or a signature, whose parameters can be constrained. */
const calledFunction = z.string().transform((text, context) => {
  if (selector.test(text)) return { selector: text.toLowerCase() as Hex, inputs: undefined }
  try {
    const item = parseAbiItem(`function ${text}`) as AbiFunction
    return { selector: toFunctionSelector(item), inputs: item.inputs }
  } catch {
    context.addIssue('must be a selector, or a signature such as "transfer(address,uint256)"')
    return z.NEVER
  }
})

const allowedCall = z
  .strictObject({
    target: z.union([z.enum(['any', 'sender']), address], 'must be an address, any or sender'),
    function: calledFunction.nullable().optional(),
    maxValue: wei.optional(),
    where: exactRecord(path, comparisons).default({}),
  })
  .transform((call, context): AllowedCall => {
    const where = Object.entries(call.where).map(([text, comparisons]) => ({
      path: text.split('.').map(Number),
      comparisons,
    }))
    for (const constraint of where) {
      const mistake = constraintMistake(call.function?.inputs ?? [], constraint)
      if (mistake !== undefined) context.addIssue(mistake)
    }
    return { target: call.target, function: call.function, maxValue: call.maxValue, where }
  })

const calls = z.strictObject({
  /** Each call of the operation must be one of these. */
  allow: z.array(allowedCall).min(1).max(200),
  /** Whether call data may be of an account that we cannot read. */
  allowUnknown: z.boolean().default(false),
  allowDelegateCalls: z.boolean().default(false),
  /** Whether a call may itself make calls: a multicall, or an account's execute. */
  allowNested: z.boolean().default(false),
})

export type CallTerms = z.output<typeof calls>

const senders = z.array(address).max(10_000)

/** The terms of a policy as users write them and as they are stored: one member each. */
const written = z.strictObject({
  chains: z.array(z.int().positive()).min(1).max(200).optional(),
  /** Unix seconds, both inclusive */
  validFrom: seconds.optional(),
  validUntil: seconds.optional(),
  allowSenders: senders.min(1).optional(),
  denySenders: senders.default([]),
  deploymentOnly: z.boolean().default(false),
  /** The factories that may create accounts. */
  factories: z.array(address).max(200).optional(),
  /** wei per gas */
  maxFeePerGas: wei.optional(),
  calls: calls.optional(),
  budgets: z
    .array(budget)
    .max(50)
    .refine((budgets) => new Set(budgets.map(budgetKey)).size === budgets.length, {
      error: 'must not name the same subject, unit and window twice',
    })
    .default([]),
  /** `always`: a webhook must approve, also when the request brings no webhookData. */
  webhookMode: z.enum(['request', 'always']).default('request'),
})

type Written = z.output<typeof written>

/** The terms of a policy. A term that is undefined does not restrict. */
export type PolicyTerms = { readonly [Name in keyof Required<Written>]: Written[Name] }

const absent = Object.fromEntries(Object.keys(written.shape).map((name) => [name, undefined]))

/** Every member is there: zod leaves out what the user left out. */
export const termsSchema = written.transform((terms) => ({ ...absent, ...terms }) as PolicyTerms)

export type Policy = {
  readonly id: string
  /** undefined = of the account: binds all its apps */
  readonly appId: string | undefined
  readonly name: string
  readonly active: boolean
  readonly terms: PolicyTerms
}

export type TermsInput = z.input<typeof termsSchema>

/** A mistake in terms, and the path of the member that has it, such as `calls.allow.0.target`. */
export type TermsMistake = { readonly path: string; readonly message: string }

/** Every mistake in terms as a user wrote them; none = they can be stored. */
export function termsMistakes(terms: unknown, { isOfApp }: { readonly isOfApp: boolean }) {
  const { data, error } = termsSchema.safeParse(terms)
  const mistakes = (error?.issues ?? []).map(
    ({ path, message }): TermsMistake => ({ path: path.join('.'), message }),
  )
  const ofAccount = isOfApp ? (data?.budgets.findIndex(({ per }) => per === 'account') ?? -1) : -1
  if (ofAccount >= 0)
    mistakes.push({
      path: `budgets.${ofAccount}.per`,
      message: 'account belongs in a policy of the account (appId null)',
    })
  return mistakes
}
