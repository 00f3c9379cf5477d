import type { Address } from 'viem'
import { unixNow } from '../../base/unixNow.js'
import { mostBid } from '../../chain/fees.js'
import type { Head } from '../../chain/head.js'
import { getCode } from '../../chain/nodeReads.js'
import type { Draft } from '../../erc4337/draft.js'
import { type Fees, noFees } from '../../erc4337/fees.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import { checkFees } from '../policy/checkFees.js'
import {
  evaluateRequest,
  namedPolicies,
  type PolicyAnswer,
  type RemainingPolicies,
} from '../policy/evaluatePolicies.js'
import { loadPolicies } from '../policy/policies.js'
import { tankStub, withPaymaster } from '../sponsoredDraft.js'
import type { SponsorshipRequest } from '../sponsorship.js'
import {
  durationOf,
  type SponsorshipTerms,
  durationUnderRules,
  timeRange,
} from '../sponsorshipTerms.js'
import type { SponsorshipPayer } from '../tank/payer.js'
import { readCommitment } from './commitment.js'
import type { RefusedSponsorship } from './evaluatedSponsorship.js'
import type { SponsorParts } from './sponsorContext.js'

/** A request that passed every rule that needs no estimate, no webhook and no money. */
export type SponsorshipCandidate = {
  readonly kind: 'candidate'
  readonly payer: SponsorshipPayer
  /** The request's draft; in mode native with fees of 0. */
  readonly draft: Draft
  /** The draft as the payer would sign it, with the signature of a stub. */
  readonly stubbed: Draft
  readonly range: TimeRange
  readonly remaining: RemainingPolicies
  readonly verdicts: readonly PolicyAnswer[]
  /** wei per gas, the fast fees of the chain */
  readonly fast: Fees
  readonly head: Head
  /** The same, where the node was not asked for a newer one. */
  readonly known: Head | undefined
  readonly asksWebhooks: boolean
  /** Unix seconds by our clock, when the request came */
  readonly at: number
}

/** The head to decide at: one that is known, unless it is old, or the one that the node has now. */
export type HeadChoice = 'known' | 'newest'

/** Polls without an answer after which the known head is old. */
const MISSED_POLLS = 2

/**
 * Applies the cheap rules. Webhooks are asked once for a request, so always at the newest head. Throws
 * InvalidParamsError for a duration that the operator does not allow.
 */
export async function checkRequest(
  parts: SponsorParts,
  request: SponsorshipRequest,
  choice: HeadChoice,
): Promise<SponsorshipCandidate | RefusedSponsorship> {
  const { terms, definition, heads } = parts
  const { appId, entryPoint } = request
  const duration = durationOf(request.expiryDuration, terms)
  const at = unixNow()
  const { sender, factory } = request.draft
  const [{ payer, refusal }, policies, { fast }, code] = await Promise.all([
    parts.payers.findPayer(appId, entryPoint),
    loadPolicies(parts.database, appId),
    parts.fees(),
    factory === undefined ? '0x' : getCode(parts.node, sender),
  ])
  if (payer === undefined) return { kind: 'refused', refusal, calls: [], verdicts: [] }

  const { tank } = payer
  const draft = tank === undefined ? { ...request.draft, ...noFees } : request.draft
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
  const senderExists = code !== '0x'
  const facts = { chainId: definition.chainId, at, sender, draft, senderExists }
  const named = namedPolicies(policies, request.policyIds)
  if ('refusal' in named) return { kind: 'refused', calls: [], verdicts: [], ...named }
  const answer = evaluateRequest(named, facts)
  if (answer.passed === undefined) return { kind: 'refused', calls: [], ...answer }
  const { verdicts, passed: remaining } = answer

  const bid = { maxFeePerGas, maxPriorityFeePerGas }
  const feeRefusal = checkFees(bid, mostBid(parts.node, fast), terms)
  if (feeRefusal !== undefined) return { kind: 'refused', refusal: feeRefusal, calls: [], verdicts }

  // The estimate that follows need not wait for the node once more, unless there is a new head.
  const foreseen = { ...draft, paymaster: tank?.address }
  const asksWebhooks = request.webhookData !== undefined || requiresWebhook(remaining)
  const isOld = heads.age() > MISSED_POLLS * definition.pollInterval
  const isNewest = choice === 'newest' || asksWebhooks || isOld
  const [head] = await Promise.all([
    isNewest ? heads.refresh() : heads.current(),
    parts.foresee(entryPoint, foreseen, 'execution'),
  ])
  const time = Math.max(head.timestamp, at)
  const lasting = durationUnderRules(duration, time, terms)
  const proposal = propose(request, draft, tank?.address, { time, duration: lasting, terms })
  if ('refusal' in proposal) return { kind: 'refused', calls: [], verdicts, ...proposal }
  const known = isNewest ? undefined : head
  const answers = { verdicts, remaining, asksWebhooks }
  return { kind: 'candidate', payer, draft, ...proposal, ...answers, fast, head, known, at }
}

function requiresWebhook({ ofAccount, ofApp = [] }: RemainingPolicies): boolean {
  return [...ofAccount, ...ofApp].some(({ terms }) => terms.webhookMode === 'always')
}

type ProposalTerms = {
  /** Unix seconds, the later of our clock and the chain's */
  readonly time: number
  readonly duration: number
  readonly terms: SponsorshipTerms
}

/**
 * The draft that a tank is to sign, with the signature of a stub; without a tank, the draft that
 * needs none. A refusal when the account committed itself to something that the tank cannot sign.
 */
function propose(
  { entryPoint, signingPhase }: SponsorshipRequest,
  draft: Draft,
  tank: Address | undefined,
  { time, duration, terms }: ProposalTerms,
) {
  const isLate = signingPhase !== undefined
  const range = timeRange(time, time, duration)
  if (tank === undefined) return { stubbed: withPaymaster(draft, undefined), range }
  const stub = tankStub(tank, range, entryPoint, draft, isLate)
  if (!isLate) return { stubbed: withPaymaster(draft, stub), range }
  const earliest = time + 1
  const bounds = { earliest, latest: earliest + terms.maxDuration }
  const committed = readCommitment(draft, stub, bounds)
  return 'refusal' in committed ? committed : { stubbed: draft, range: committed.range }
}
