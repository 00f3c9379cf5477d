import type { Logger } from 'pino'
import type { Address } from 'viem'
import { unixNow } from '../../base/unixNow.js'
import type { ChainDefinition } from '../../chain/definition.js'
import { delegateToHash } from '../../chain/delegations.js'
import type { FeeAdvice } from '../../chain/feeAdvice.js'
import type { HeadFollower } from '../../chain/headFollower.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { TimeRange } from '../../entrypoint/validationData.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import { checkApproval } from '../../policy/approvalRule.js'
import type { ReservationClaim } from '../../policy/decideReservation.js'
import { decodeCalls } from '../../policy/decodeCalls.js'
import {
  evaluateCost,
  evaluateRequest,
  type PolicyAnswer,
  type RemainingPolicies,
} from '../../policy/evaluatePolicies.js'
import { checkFees } from '../../policy/feeRule.js'
import { checkGas } from '../../policy/gasRule.js'
import { loadPolicies } from '../../policy/loadPolicies.js'
import { recentPrice } from '../../policy/price.js'
import type { Refusal } from '../../policy/refusal.js'
import type { Database } from '../../store/database.js'
import type { DepositAtHead } from '../../store/ledger/reservations.js'
import type { Approval, WebhookCall } from '../../webhook/approval.js'
import type { SponsorshipSubject } from '../../webhook/extendedPayload.js'
import { createDeposits } from '../entryPointDeposit.js'
import { complete, tankStub, withPaymaster } from '../sponsoredDraft.js'
import type { SponsorshipRequest } from '../sponsorship.js'
import { durationOf, type SponsorshipTerms, timeRange } from '../sponsorshipTerms.js'
import {
  claimCredit,
  createPayers,
  type PayerOrRefusal,
  type SponsorshipPayer,
} from '../tank/payer.js'
import { checkCommittedGas, committedLimits, readCommitment } from './commitment.js'
import { givenLimits, limitsToSign } from './sponsoredLimits.js'

export type EvaluationContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'refresh'>
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxVerificationGas' | 'maxBundleGas'>
  readonly terms: SponsorshipTerms
  readonly logger: Logger
  estimate(entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate>
  fees(): Promise<FeeAdvice>
}

/** Asks the app's webhooks; `asked` is how many there are to ask. */
export type AskWebhooks = (
  known: Pick<SponsorshipSubject, 'calls' | 'policyId' | 'nativePrice'>,
) => Promise<{ readonly approval: Approval; readonly asked: number }>

type Told = { readonly calls: readonly WebhookCall[]; readonly verdicts: readonly PolicyAnswer[] }

/** All but the money is decided: what could be signed, and what the ledger is to be asked. */
export type Sponsorable = Told & {
  readonly kind: 'sponsorable'
  readonly payer: SponsorshipPayer
  readonly unsigned: Operation
  /** wei per gas that are paid for it: its own fees, or what a bundle may cost that carries it free */
  readonly offer: Fees
  readonly delegate: Address | undefined
  readonly range: TimeRange
  readonly head: DepositAtHead
  readonly claim: ReservationClaim
}

export type EvaluatedSponsorship =
  | Sponsorable
  | (Told & { readonly kind: 'refused'; readonly refusal: Refusal; readonly policyId?: string })
  /** The operation would fail, whoever pays. */
  | (Told & { readonly kind: 'failed'; readonly error: unknown })

export type SponsorshipEvaluator = {
  /** Everything about a sponsorship but deposit and budgets. Throws what `ask` throws. */
  weigh(request: SponsorshipRequest, ask: AskWebhooks): Promise<EvaluatedSponsorship>
  /** What pays for the app, or why there is nothing to pay from. */
  requirePayer(appId: string, entryPoint: EntryPoint): Promise<PayerOrRefusal>
}

/** The order of its questions is that of docs/architecture.md: cheap ones first. */
export function createSponsorshipEvaluator(context: EvaluationContext): SponsorshipEvaluator {
  const { database, node, definition, terms } = context
  const { chainId } = definition
  const { requirePayer } = createPayers(context)
  const depositAt = createDeposits(node)

  const priceAt = async (at: number) =>
    recentPrice(await terms.prices(chainId), at, terms.maxPriceAge)

  /** Asks with what is known before the estimate. */
  const askAbout = async (
    { standing, draft, at }: { standing: RemainingPolicies; draft: Draft; at: number },
    ask: AskWebhooks,
  ) => {
    const { ofApp = [] } = standing
    return ask({
      calls: decodeCalls(draft.callData),
      policyId: ofApp.length === 1 ? ofApp[0]?.id : undefined,
      nativePrice: (await priceAt(at))?.microUsd,
    })
  }

  const weigh: SponsorshipEvaluator['weigh'] = async (request, ask) => {
    const { appId, entryPoint, calculateGasLimits, webhookData } = request
    const duration = durationOf(request.expiryDuration, terms)
    const at = unixNow()
    const [{ payer, refusal }, policies, { fast }, head] = await Promise.all([
      requirePayer(appId, entryPoint),
      loadPolicies(database, appId),
      context.fees(),
      context.heads.refresh(),
    ])
    const nothing = { calls: [], verdicts: [] }
    if (payer === undefined) return { kind: 'refused', refusal, ...nothing }
    const { tank, credit } = payer
    const draft = tank === undefined ? { ...request.draft, ...noFees } : request.draft
    const judged = evaluateRequest(policies, { chainId, at, sender: draft.sender, draft })
    const { verdicts } = judged
    if (judged.passed === undefined) return { kind: 'refused', calls: [], ...judged }
    const standing = judged.passed
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
    const dear = checkFees({ maxFeePerGas, maxPriorityFeePerGas }, fast, terms)
    if (dear !== undefined) return { kind: 'refused', refusal: dear, calls: [], verdicts }

    const time = Math.max(head.timestamp, at)
    const proposal = propose(request, draft, tank?.address, { time, duration, terms })
    if ('refusal' in proposal) return { kind: 'refused', calls: [], verdicts, ...proposal }
    const { stubbed, range } = proposal
    const asks = webhookData !== undefined || requiresWebhook(standing)
    const [measured, approved] = await Promise.allSettled([
      Promise.all([
        context.estimate(entryPoint, stubbed),
        tank && depositAt(head, entryPoint.address, tank.address),
        delegateToHash(node, draft),
        isInUsd(standing) ? priceAt(at) : undefined,
      ]),
      asks ? askAbout({ standing, draft, at }, ask) : unasked,
    ])
    if (approved.status === 'rejected') throw approved.reason
    const { approval, asked } = approved.value
    const { calls } = approval
    const told = { calls, verdicts }
    if (measured.status === 'rejected') return { kind: 'failed', error: measured.reason, ...told }
    const [estimate, deposit, delegate, price] = measured.value
    const denial = checkApproval(approval)
    if (denial !== undefined) return { kind: 'refused', refusal: denial, ...told }

    const isCommitted = request.signingPhase === 'finalize'
    const own = isCommitted ? committedLimits(draft) : givenLimits(draft, calculateGasLimits)
    const lack = isCommitted && own && checkCommittedGas(own, estimate)
    if (lack) return { kind: 'refused', refusal: lack, ...told }
    const limits = limitsToSign(own, estimate)
    const unsigned = complete(stubbed, { ...estimate, ...limits })
    const offer = tank === undefined ? fast : unsigned
    const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
    const excess = checkGas(gas, estimate.preVerificationGas, definition)
    if (excess !== undefined) return { kind: 'refused', refusal: excess, ...told }

    const maxCost = entryPoint.chargeableGas(unsigned) * offer.maxFeePerGas
    const cost = evaluateCost(standing, {
      appId,
      sender: draft.sender,
      maxCost,
      at,
      price,
      maxFeePerGas: offer.maxFeePerGas,
      webhooksAsked: asked,
    })
    const all = {
      calls,
      verdicts: [...verdicts.filter(({ refusal }) => refusal), ...cost.verdicts],
    }
    if (cost.passed === undefined) {
      const { refusal, policyId } = cost
      return { kind: 'refused', refusal, policyId, ...all }
    }
    return {
      kind: 'sponsorable',
      payer,
      unsigned,
      offer,
      delegate,
      range,
      ...all,
      head: { deposit, blockNumber: head.number, timestamp: head.timestamp },
      claim: {
        maxCost,
        ...cost.passed,
        ofAccount: [...(credit ? [claimCredit(credit, maxCost)] : []), ...cost.passed.ofAccount],
      },
    }
  }

  return { weigh, requirePayer }
}

type ProposalTerms = {
  /** Unix seconds, the later of our clock and the chain's */
  readonly time: number
  readonly duration: number
  readonly terms: SponsorshipTerms
}

/** What a tank is to sign, with the signature of a stub, or what goes without one; or why it cannot. */
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

const noFees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

const unasked = { approval: { approved: true, calls: [] }, asked: 0 }

function isInUsd({ ofAccount, ofApp = [] }: RemainingPolicies): boolean {
  return [...ofAccount, ...ofApp].some(({ terms }) =>
    terms.budgets.some(({ unit }) => unit === 'usd'),
  )
}

function requiresWebhook({ ofAccount, ofApp = [] }: RemainingPolicies): boolean {
  return [...ofAccount, ...ofApp].some(({ terms }) => terms.webhookMode === 'always')
}
