import { z } from 'zod'
import { MOST_TRIED } from '../../../base/vocabulary.js'
import { termsSchema } from '../../../policy/policySchema.js'
import type { Contracts } from '../../contract.js'
import { address, appParams, hash, id } from '../../schemas.js'

const against = z.union([
  /** The newest so many operations of the app. */
  z.strictObject({ last: z.int().min(1).max(MOST_TRIED) }),
  z.strictObject({ decisionId: id }),
  z.strictObject({ refusalId: id }),
  z.strictObject({
    operation: z.strictObject({
      chainId: z.int().positive(),
      entryPoint: address,
      operation: z.record(z.string(), z.unknown()),
    }),
  }),
])

const verdict = z.object({
  rule: z.string(),
  passes: z.boolean(),
  code: z.string().nullable(),
  message: z.string().nullable(),
})

const item = z.object({
  chainId: z.int(),
  userOpHash: hash.nullable(),
  sender: address,
  /** When it was sent; null = it was tried as if it came now. */
  at: z.iso.datetime().nullable(),
  passes: z.boolean(),
  /** Those of the first rule that refuses; null where none does. */
  rule: z.string().nullable(),
  code: z.string().nullable(),
  message: z.string().nullable(),
  /** What was said then; null where nobody asked for a sponsorship. */
  before: z
    .object({
      decisionId: id.nullable(),
      sponsored: z.boolean(),
      code: z.string(),
      message: z.string(),
    })
    .nullable(),
})

/** Of a member of the terms; an empty path = of all of them. */
const told = z.object({ path: z.string(), message: z.string() })

/** Policies before they bind anybody. */
export const policyTrialContracts = {
  'POST /policies/check': {
    summary: 'Whether terms are well-formed and can ever pass; keeps nothing',
    who: 'account',
    role: 'developer',
    body: z.strictObject({
      terms: z.unknown().refine((terms) => terms !== undefined, 'must be there'),
      /** The owner of the policy: budgets per account are for the account's. */
      of: z.enum(['app', 'account']).default('app'),
      /** The app of the policy, whose other policies may leave nothing to it. */
      appId: id.optional(),
      /** The policy that the draft would replace. */
      policyId: id.optional(),
      /** Its place among the others; absent = that of the policy it replaces, or the last. */
      position: z.int().min(0).max(1_000_000).optional(),
    }),
    answer: z.object({
      valid: z.boolean(),
      /** The first hundred. */
      errors: z.array(told),
      /** Where well-formed terms can never pass, or surprise. */
      warnings: z.array(told),
    }),
  },
  'POST /apps/{appId}/policies/try': {
    summary: 'What a draft of a policy would have said of operations; keeps nothing',
    who: 'account',
    role: 'developer',
    params: appParams,
    body: z.strictObject({
      /** The draft; absent = the stored policy as it is. */
      terms: termsSchema.optional(),
      /** The policy that it would replace, whose counters count; absent = nothing is used yet. */
      policyId: id.optional(),
      against,
    }),
    answer: z.object({
      tried: z.int(),
      passed: z.int(),
      /** By the code of the first refusal, the most frequent first. */
      refused: z.array(z.object({ code: z.string(), count: z.int() })),
      /** Of these operations, what was said then. */
      before: z.object({ sponsored: z.int(), refused: z.int(), unasked: z.int() }),
      /** Of each rule, where one operation was tried. */
      verdicts: z.array(verdict).nullable(),
      /** The parts of the draft that were not applied. */
      unevaluated: z.array(
        z.enum(['webhooks', 'budgetsInUsd', 'budgetsOfAmounts', 'fees', 'validity']),
      ),
      /** The newest last. */
      items: z.array(item),
    }),
  },
} as const satisfies Contracts
