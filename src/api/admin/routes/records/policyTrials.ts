import { contracts } from '../../../../admin/contracts.js'
import { unixNow } from '../../../../base/unixNow.js'
import { RateLimitError } from '../../../../errors/limitErrors.js'
import { createPolicies, type PolicyView } from '../../../../policy/managePolicies.js'
import { termsMistakes, termsSchema, termsWarnings } from '../../../../policy/policySchema.js'
import { type TriedRecord, tryOnRecords } from '../../../../records/tryOnRecords.js'
import { readPasted } from '../../../readPasted.js'
import { type Route, serve } from '../../route.js'
import { servedChain } from './servedChain.js'

/** Mistakes that are told at most; the terms may hold 10,000 senders. */
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
    const tried = items.map(encode)
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

type Encoded = ReturnType<typeof encode>

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

function encode(record: TriedRecord) {
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
