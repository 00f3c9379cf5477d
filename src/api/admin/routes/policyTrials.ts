import { z } from 'zod'
import { RateLimitError } from '../../../base/errors/limitErrors.js'
import { unixNow } from '../../../base/unixNow.js'
import { MOST_TRIED } from '../../../base/vocabulary.js'
import type { Draft } from '../../../erc4337/draft.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { listPolicies, type PolicyView } from '../../../paymaster/policy/managePolicies.js'
import { termsMistakes, termsSchema } from '../../../paymaster/policy/policySchema.js'
import { termsWarnings } from '../../../paymaster/policy/termsWarnings.js'
import type { TriedOperation } from '../../../paymaster/policy/tryPolicy.js'
import {
  answerThen,
  type PastedOperation,
  type TriedRecord,
  tryOnRecords,
} from '../../../records/tryOnRecords.js'
import { address, hash, id } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodePartialOperation } from '../../dialects/decode/operation.js'
import { inferEntryPoint } from '../../dialects/decode/paymasterRequest.js'
import type { DecodeContext } from '../../dialects/decode/values.js'
import { servedChain } from './chains.js'

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
  before: answerThen.nullable(),
})

/** Of a member of the terms; an empty path = of all of them. */
const finding = z.object({ path: z.string(), message: z.string() })

/** The most mistakes that an answer lists; the terms may hold 10,000 senders. */
const MOST_MISTAKES = 100

/** Policies before they bind anybody. */
export const policyTrialRoutes = [
  route('POST /policies/check', {
    summary: 'Whether terms are valid and can ever pass; stores nothing',
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
    async run({ context, accountId, body: { terms, of, ...place } }) {
      const errors = termsMistakes(terms, { isOfApp: of === 'app' })
      if (errors.length > 0)
        return { valid: false, errors: errors.slice(0, MOST_MISTAKES), warnings: [] }
      const policies =
        of === 'app' && place.appId !== undefined
          ? await listPolicies(context.database, accountId, place.appId)
          : []
      const around = {
        now: unixNow(),
        served: context.chainIds(),
        ...neighboursOf(policies, place),
      }
      const warnings = termsWarnings(termsSchema.parse(terms), around)
      return { valid: true, errors, warnings: [...warnings] }
    },
  }),
  route('POST /apps/{appId}/policies/try', {
    summary: 'What a draft of a policy would decide for given operations; stores nothing',
    role: 'developer',
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
    async run({ context, accountId, app, body }) {
      const { terms, policyId } = body
      const request = { accountId, appId: app.id, terms, policyId, against: body.against }
      const { items, unevaluated } = await inTurn(accountId, () =>
        tryOnRecords(context.database, request, (pasted) =>
          readPasted(pasted, servedChain(context, pasted.chainId)),
        ),
      )
      const tried = items.map(encodeTried)
      const [only] = items
      return {
        ...summaryOf(tried),
        verdicts: items.length === 1 && only !== undefined ? verdictsOf(only) : null,
        unevaluated,
        items: tried,
      }
    },
  }),
]

/** The active policies of an app around the place of a draft; a new one is asked behind those of its position. */
function neighboursOf(
  policies: readonly PolicyView[],
  {
    policyId,
    position,
  }: { readonly policyId?: string | undefined; readonly position?: number | undefined },
) {
  const own = policies.findIndex((policy) => policy.policyId === policyId)
  const at = position ?? policies[own]?.position ?? Number.POSITIVE_INFINITY
  const isBefore = (policy: PolicyView, place: number) =>
    policy.position < at || (policy.position === at && (own < 0 || place < own))
  const others = policies
    .map((policy, place) => ({ policy, isBefore: isBefore(policy, place) }))
    .filter(({ policy }, place) => place !== own && policy.active)
  const neighbours = (before: boolean) =>
    others
      .filter((each) => each.isBefore === before)
      .map(({ policy: { name, terms } }) => ({ name, terms: termsSchema.parse(terms) }))
  return { before: neighbours(true), after: neighbours(false) }
}

/** Trials in this process at once: each may hold 8 MB of call data. */
const MOST_AT_ONCE = 8

const accountsInTurn = new Set<string>()

/** Runs a trial unless one of the account, or as many as may, are under way. Throws RateLimitError. */
async function inTurn<Result>(accountId: string, run: () => Promise<Result>): Promise<Result> {
  if (accountsInTurn.has(accountId) || accountsInTurn.size >= MOST_AT_ONCE)
    throw new RateLimitError('trials', 1)
  accountsInTurn.add(accountId)
  try {
    return await run()
  } finally {
    accountsInTurn.delete(accountId)
  }
}

type Encoded = ReturnType<typeof encodeTried>

function summaryOf(items: readonly Encoded[]) {
  const counts = new Map<string, number>()
  for (const { code } of items) if (code !== null) counts.set(code, (counts.get(code) ?? 0) + 1)
  const refused = [...counts].map(([code, count]) => ({ code, count }))
  const count = (fits: (each: Encoded) => boolean) => items.filter(fits).length
  return {
    tried: items.length,
    passed: count(({ passes }) => passes),
    refused: refused.sort((a, b) => b.count - a.count),
    before: {
      sponsored: count(({ before }) => before?.sponsored === true),
      refused: count(({ before }) => before?.sponsored === false),
      unasked: count(({ before }) => before === null),
    },
  }
}

function encodeTried(record: TriedRecord) {
  const first = record.trial.find(({ refusal }) => refusal !== undefined)
  return {
    chainId: record.chainId,
    userOpHash: record.userOpHash ?? null,
    sender: record.sender,
    at: record.at ?? null,
    passes: first === undefined,
    rule: first?.rule ?? null,
    code: first?.refusal?.code ?? null,
    message: first?.refusal?.message ?? null,
    before: record.before ?? null,
  }
}

function verdictsOf({ trial }: TriedRecord) {
  return trial.map(({ rule, refusal }) => ({
    rule,
    passes: refusal === undefined,
    code: refusal?.code ?? null,
    message: refusal?.message ?? null,
  }))
}

/** An operation as it is written in JSON, for a policy to be tried on. Throws InvalidParamsError, UnsupportedEntryPointError. */
function readPasted(
  { entryPoint: named, operation }: PastedOperation,
  chain: DecodeContext,
): TriedOperation {
  const entryPoint =
    named === undefined
      ? inferEntryPoint(operation, chain)
      : decodeEntryPoint(named, 'entryPoint', chain)
  const draft = decodePartialOperation(operation, 'operation', entryPoint.version)
  const { sender, maxFeePerGas } = draft
  return { chainId: chain.chainId, sender, draft, maxFeePerGas, maxCost: costOf(draft, entryPoint) }
}

/** The wei that a sponsorship would reserve, where limits and fee are said. */
function costOf(draft: Draft, entryPoint: EntryPoint): bigint | undefined {
  const { callGasLimit, verificationGasLimit, preVerificationGas, maxFeePerGas } = draft
  if (callGasLimit === undefined || verificationGasLimit === undefined) return undefined
  if (preVerificationGas === undefined || maxFeePerGas === undefined) return undefined
  const { paymasterVerificationGasLimit = 0n, paymasterPostOpGasLimit = 0n } = draft
  return entryPoint.requiredPrefund({
    ...draft,
    callGasLimit,
    verificationGasLimit,
    preVerificationGas,
    maxFeePerGas,
    maxPriorityFeePerGas: draft.maxPriorityFeePerGas ?? 0n,
    paymasterVerificationGasLimit,
    paymasterPostOpGasLimit,
    // Any tank: limits of an operation that somebody else pays may count more than once.
    paymaster: entryPoint.address,
  })
}
