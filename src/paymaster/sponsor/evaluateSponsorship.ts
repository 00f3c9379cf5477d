import type { Refusal } from '../../base/errors/catalogue.js'
import { delegateToHash } from '../../chain/delegations.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import type { GasEstimate } from '../../gas/estimateOperation.js'
import type { Approval } from '../../webhooks/approval.js'
import type { SponsorshipSubject } from '../../webhooks/extendedPayload.js'
import { readCreditUse } from '../ledger/funds.js'
import { hasHistory } from '../ledger/unsent.js'
import { checkApproval } from '../policy/checkApproval.js'
import { checkCallGas, checkGas, VERIFICATION_FLOOR } from '../policy/checkGas.js'
import { callsOf, delegatorsOf } from '../policy/decodeCalls.js'
import { evaluateCost, type RemainingPolicies } from '../policy/evaluatePolicies.js'
import { type NativePrice, recentPrice } from '../policy/price.js'
import { complete } from '../sponsoredDraft.js'
import type { SponsorshipRequest } from '../sponsorship.js'
import { availableTo, claimCredit } from '../tank/payer.js'
import { checkRequest, type HeadChoice, type SponsorshipCandidate } from './checkRequest.js'
import { checkCommittedGas, committedLimits } from './commitment.js'
import type { EvaluatedSponsorship } from './evaluatedSponsorship.js'
import type { SponsorParts } from './sponsorContext.js'
import { givenLimits, limitsToSign } from './sponsoredLimits.js'

/** Asks the app's webhooks. */
export type AskWebhooks = (
  facts: Pick<SponsorshipSubject, 'calls' | 'policyId' | 'nativePrice' | 'maxCost'>,
) => Promise<WebhookAnswer>

/** The approval, and the number of webhooks that there were to ask. */
type WebhookAnswer = { readonly approval: Approval; readonly webhooksAsked: number }

/**
 * Decides everything about a sponsorship but deposit and budgets, in the order of
 * docs/understand/architecture.md: cheap rules, then estimate and webhooks at the same time, then the rules on
 * the result. Throws what `ask` throws, and InvalidParamsError for a wrong duration.
 */
export async function evaluateSponsorship(
  parts: SponsorParts,
  request: SponsorshipRequest,
  ask: AskWebhooks,
  choice: HeadChoice,
): Promise<EvaluatedSponsorship> {
  const candidate = await checkRequest(parts, request, choice)
  if (candidate.kind === 'refused') return candidate
  const { verdicts, remaining, head, known, payer, range } = candidate

  const measuring = measure(parts, candidate, request)
  const bounding = measuring.then((each) => boundGas(parts, candidate, request, each))
  const costing = bounding.then(maxCostOf, () => undefined)
  const [measured, answered] = await Promise.allSettled([
    measuring,
    candidate.asksWebhooks ? askAbout(parts, candidate, costing, ask) : notAsked,
  ])
  if (answered.status === 'rejected') throw answered.reason
  const { approval, webhooksAsked } = answered.value
  const answers = { calls: approval.calls, verdicts, known }
  if (measured.status === 'rejected') return { kind: 'failed', error: measured.reason, ...answers }
  const denial = checkApproval(approval)
  if (denial !== undefined) return { kind: 'refused', refusal: denial, ...answers }

  const { deposit, delegate, price, available } = measured.value
  const bounded = await bounding
  if ('refusal' in bounded) return { kind: 'refused', ...bounded, ...answers }
  const { unsigned, bid, maxCost } = bounded

  const cost = evaluateCost(remaining, {
    appId: request.appId,
    sender: unsigned.sender,
    delegators: delegatorsOf(candidate.draft),
    maxCost,
    at: candidate.at,
    price,
    maxFeePerGas: bid.maxFeePerGas,
    webhooksAsked,
  })
  const allAnswers = {
    ...answers,
    verdicts: [...verdicts.filter(({ refusal }) => refusal), ...cost.verdicts],
  }
  if (cost.passed === undefined) {
    const { refusal, policyId } = cost
    return { kind: 'refused', refusal, policyId, ...allAnswers }
  }
  const { ofAccount, ofApp } = cost.passed
  const credit = payer.credit === undefined ? [] : [claimCredit(payer.credit, maxCost)]
  return {
    kind: 'sponsorable',
    payer,
    unsigned,
    bid,
    delegate,
    range,
    ...allAnswers,
    head: { deposit, blockNumber: head.number, timestamp: head.timestamp },
    available,
    claim: { maxCost, ofAccount: [...credit, ...ofAccount], ofApp },
  }
}

/**
 * Reads what the rules on the result need: gas, deposit, delegate and, for budgets in USD, a price.
 */
async function measure(
  parts: SponsorParts,
  { payer, draft, stubbed, remaining, head, at }: SponsorshipCandidate,
  { entryPoint, requester }: SponsorshipRequest,
) {
  const { tank, credit } = payer
  const [estimate, deposit, delegate, price, use] = await Promise.all([
    parts.estimate(entryPoint, stubbed, { requester }),
    tank && parts.depositAt(head, entryPoint.address, tank.address),
    delegateToHash(parts.node, draft),
    hasUsdBudget(remaining) ? priceAt(parts, at) : undefined,
    credit && readCreditUse(parts.database, credit.id),
  ])
  return {
    estimate,
    deposit,
    delegate,
    price,
    available: availableTo(payer, deposit, use?.settled ?? 0n),
  }
}

async function askAbout(
  parts: SponsorParts,
  { remaining: { ofApp = [] }, draft, at }: SponsorshipCandidate,
  maxCost: SponsorshipSubject['maxCost'],
  ask: AskWebhooks,
): Promise<WebhookAnswer> {
  return ask({
    calls: callsOf(draft),
    policyId: ofApp.length === 1 ? ofApp[0]?.id : undefined,
    nativePrice: (await priceAt(parts, at))?.microUsd,
    maxCost,
  })
}

const notAsked: WebhookAnswer = { approval: { approved: true, calls: [] }, webhooksAsked: 0 }

/** An operation before it is signed. */
type BoundedOperation = {
  readonly unsigned: Operation
  /** The fees that are paid for it. */
  readonly bid: Fees
  /** wei */
  readonly maxCost: bigint
}

/** The most that is signed for; undefined = nothing will be. */
function maxCostOf(bounded: BoundedOperation | { readonly refusal: Refusal }): bigint | undefined {
  return 'refusal' in bounded ? undefined : bounded.maxCost
}

/** The part of an app's available balance that one operation may lock by verification gas far above its estimate: an eighth. */
const FLOOR_DIVISOR = 8n

/**
 * The operation with the limits to sign, the fees that are paid for it and its cost, or why they are
 * refused.
 */
async function boundGas(
  { definition, database }: SponsorParts,
  { payer, draft, stubbed, fast }: SponsorshipCandidate,
  { entryPoint, calculateGasLimits, signingPhase }: SponsorshipRequest,
  { estimate, available }: { readonly estimate: GasEstimate; readonly available: bigint },
): Promise<BoundedOperation | { readonly refusal: Refusal }> {
  const isCommitted = signingPhase === 'finalize'
  const requested = isCommitted ? committedLimits(draft) : givenLimits(draft, calculateGasLimits)
  const shortage = isCommitted && requested && checkCommittedGas(requested, estimate)
  if (shortage) return { refusal: shortage }
  const limits = limitsToSign(requested, estimate)
  const unsigned = complete(stubbed, { ...estimate, ...limits })
  const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
  const place = { chainId: definition.chainId, entryPoint: entryPoint.address }
  const bid = payer.tank === undefined ? fast : unsigned
  const maxCost = entryPoint.chargeableGas(unsigned) * bid.maxFeePerGas
  const floor = maxCost <= available / FLOOR_DIVISOR ? VERIFICATION_FLOOR : 0n
  const refusal =
    checkGas(gas, estimate, definition, floor) ??
    (payer.tank &&
      (await checkCallGas(unsigned, () => hasHistory(database, place, unsigned.sender))))
  return refusal === undefined ? { unsigned, bid, maxCost } : { refusal }
}

/** The USD price of the coin at a time, in Unix seconds; undefined = none that is recent. */
export async function priceAt(
  { terms, definition }: SponsorParts,
  at: number,
): Promise<NativePrice | undefined> {
  return recentPrice(await terms.prices(definition.chainId), at, terms.maxPriceAge)
}

function hasUsdBudget({ ofAccount, ofApp = [] }: RemainingPolicies): boolean {
  return [...ofAccount, ...ofApp].some(({ terms }) =>
    terms.budgets.some(({ unit }) => unit === 'usd'),
  )
}
