import { z } from 'zod'
import { MOST_TRIED } from '../../base/vocabulary.js'
import { budgetSubjects } from '../../paymaster/policy/policy.js'
import { termsSchema } from '../../paymaster/policy/policySchema.js'
import type { Contracts } from './contract.js'
import { address, appParams, done, hash, id, listOf, name, time } from './schemas.js'

const policyParams = z.object({ policyId: id })

const policy = z.object({
  policyId: id,
  /** null = binds all apps of the account */
  appId: id.nullable(),
  name: z.string(),
  active: z.boolean(),
  position: z.int(),
  /** As they were written. */
  terms: z.record(z.string(), z.unknown()),
  createdAt: time,
  updatedAt: time,
})

const settings = z.strictObject({
  name,
  active: z.boolean(),
  /** Smaller ones are asked first. */
  position: z.int().min(0).max(1_000_000),
  terms: termsSchema,
})

/** Rules and budgets, of the account or of one app. */
export const policyContracts = {
  'GET /policies': {
    command: 'list',
    summary: 'The policies of the account in the order in which they are asked',
    who: 'account',
    role: 'viewer',
    query: z.strictObject({ appId: id.optional() }),
    answer: listOf(policy),
  },
  'POST /policies': {
    command: 'create',
    summary: 'Make a policy, of an app or (appId null) of the whole account',
    who: 'account',
    role: 'admin',
    status: 201,
    body: settings.partial().extend({ appId: id.nullable(), name }),
    answer: policy,
  },
  'GET /policies/{policyId}': {
    command: 'show',
    summary: 'One policy',
    who: 'account',
    role: 'viewer',
    params: policyParams,
    answer: policy,
  },
  'PATCH /policies/{policyId}': {
    command: 'edit',
    summary: 'Change a policy; terms are replaced whole, counters of kept budgets stay',
    who: 'account',
    role: 'admin',
    params: policyParams,
    body: settings.partial(),
    answer: policy,
  },
  'DELETE /policies/{policyId}': {
    command: 'delete',
    summary: 'Delete a policy with its counters',
    who: 'account',
    role: 'admin',
    params: policyParams,
    answer: done,
  },
} as const satisfies Contracts

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
const finding = z.object({ path: z.string(), message: z.string() })

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
      errors: z.array(finding),
      /** Where well-formed terms can never pass, or surprise. */
      warnings: z.array(finding),
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

/** In the unit: wei, millionths of a USD, or operations. */
const amount = z.string()

export const budgetContracts = {
  'GET /policies/{policyId}/budgets': {
    summary: 'What is used of each budget of a policy now, and by whom',
    who: 'account',
    role: 'viewer',
    params: z.object({ policyId: id }),
    answer: listOf(
      z.object({
        per: z.enum(budgetSubjects),
        unit: z.enum(['wei', 'usd', 'count']),
        window: z.string(),
        limit: amount,
        /** Unix seconds; 0 = the window has no beginning. */
        since: z.int(),
        /** Unix seconds: when the window begins anew; null = it moves, or never ends. */
        until: z.int().nullable(),
        /** The ten that used most: reserved or settled, and of that settled. */
        subjects: z.array(z.object({ subject: z.string(), used: amount, settled: amount })),
      }),
    ),
  },
} as const satisfies Contracts
