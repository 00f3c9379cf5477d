import { defined } from '../../../base/defined.js'
import { RateLimitError } from '../../../base/errors/limitErrors.js'
import { unixNow } from '../../../base/unixNow.js'
import type { Draft } from '../../../erc4337/draft.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { createPolicies, type PolicyView } from '../../../paymaster/policy/managePolicies.js'
import {
  termsMistakes,
  termsSchema,
  termsWarnings,
} from '../../../paymaster/policy/policySchema.js'
import type { TriedOperation } from '../../../paymaster/policy/tryPolicy.js'
import {
  type PastedOperation,
  type TriedRecord,
  tryOnRecords,
} from '../../../records/tryOnRecords.js'
import { contracts } from '../../contracts/contracts.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodePartialOperation } from '../../dialects/decode/operation.js'
import { inferEntryPoint } from '../../dialects/decode/paymasterRequest.js'
import type { DecodeContext } from '../../dialects/decode/values.js'
import { type Route, serve } from '../route.js'
import { servedChain } from './chains.js'

/** Terms are stored as they were written, so what the schema understood is not what goes on. */
function asWritten(body: object, raw: unknown): object {
  return {
    ...defined(body),
    ...(typeof raw === 'object' && raw !== null && 'terms' in raw && { terms: raw.terms }),
  }
}

function entryOf(accountId: string, { policyId, appId }: PolicyView) {
  return {
    objectId: policyId,
    accountId,
    appId,
  }
}

export const policyRoutes: readonly Route[] = serve(contracts.policy)({
  'GET /policies': ({ context, accountId, query: { appId } }) =>
    createPolicies(context.database).list(accountId, appId),
  'POST /policies': ({ change, accountId, body, raw }) =>
    change(async ({ trx, record }) => {
      const after = await createPolicies(trx).create(accountId, asWritten(body, raw))
      await record({ action: 'policy.create', ...entryOf(accountId, after), after })
      return after
    }),
  'GET /policies/{policyId}': ({ context, accountId, params: { policyId } }) =>
    createPolicies(context.database).get(accountId, policyId),
  'PATCH /policies/{policyId}': ({ change, accountId, params: { policyId }, body, raw }) =>
    change(async ({ trx, record }) => {
      const policies = createPolicies(trx)
      const before = await policies.get(accountId, policyId)
      const after = await policies.update(accountId, policyId, asWritten(body, raw))
      await record({ action: 'policy.update', ...entryOf(accountId, after), before, after })
      return after
    }),
  'DELETE /policies/{policyId}': ({ change, accountId, params: { policyId } }) =>
    change(async ({ trx, record }) => {
      const policies = createPolicies(trx)
      const before = await policies.get(accountId, policyId)
      await policies.remove(accountId, policyId)
      await record({ action: 'policy.delete', ...entryOf(accountId, before), before })
      return true
    }),
})

/** The most mistakes that an answer lists; the terms may hold 10,000 senders. */
const MOST_MISTAKES = 100

/** Policies before they bind anybody. */
export const policyTrialRoutes: readonly Route[] = serve(contracts.policyTrial)({
  async 'POST /policies/check'({ context, accountId, body: { terms, of, ...place } }) {
    const errors = termsMistakes(terms, { isOfApp: of === 'app' })
    if (errors.length > 0)
      return { valid: false, errors: errors.slice(0, MOST_MISTAKES), warnings: [] }
    const policies =
      of === 'app' && place.appId !== undefined
        ? await createPolicies(context.database).list(accountId, place.appId)
        : []
    const around = { now: unixNow(), served: context.chainIds, ...neighboursOf(policies, place) }
    const warnings = termsWarnings(termsSchema.parse(terms), around)
    return { valid: true, errors, warnings: [...warnings] }
  },
  async 'POST /apps/{appId}/policies/try'({ context, accountId, app, body }) {
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
})

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

export const budgetRoutes: readonly Route[] = serve(contracts.budget)({
  'GET /policies/{policyId}/budgets': ({ context: { database }, accountId, params }) =>
    createPolicies(database).budgets(accountId, params.policyId),
})
