import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Address, concatHex, type Hex } from 'viem'
import type { ChainDefinition } from '../chain/definition.js'
import type { FeeAdvice } from '../chain/feeAdvice.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { PurserError } from '../errors/purserError.js'
import { SponsorshipRefusedError } from '../errors/sponsorshipErrors.js'
import { faultPoint } from '../faults.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import { judgeApproval } from '../policy/approvalRule.js'
import { judgeFees } from '../policy/feeRule.js'
import { judgeGas } from '../policy/gasRule.js'
import type { Refusal } from '../policy/refusal.js'
import type { Database } from '../store/database.js'
import { insertDecision, reserveSponsorship } from '../store/decisions.js'
import { findTank } from '../store/tanks.js'
import { decryptSecret } from '../tenancy/secrets.js'
import type { Approval, WebhookCall } from '../webhook/approval.js'
import type { Approver } from '../webhook/approve.js'
import { type DecisionSubject, toCallRows, toDecisionRow } from './decisionRow.js'
import { depositOf } from './entryPointDeposit.js'
import { signerPurpose, signSponsorship } from './signSponsorship.js'
import {
  complete,
  type PaymasterStub,
  tankStub,
  withPaymaster,
  withSignature,
} from './sponsoredDraft.js'
import { givenLimits, limitsToSign } from './sponsoredLimits.js'
import type { SponsorshipRequest, SponsorshipResult } from './sponsorship.js'
import { durationOf, type SponsorshipTerms, timeRange } from './sponsorshipTerms.js'
import { noTank, tankEmpty, tankNotDeployed } from './tankRefusals.js'

export type SponsorContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'refresh'>
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxVerificationGas' | 'maxBundleGas'>
  readonly terms: SponsorshipTerms
  readonly approver: Approver
  readonly logger: Logger
  estimate(entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate>
  fees(): Promise<FeeAdvice>
}

export type Sponsor = {
  /**
   * Decides and, when it is yes, reserves and signs. A refusal is a result with limits for sending
   * the operation self-paid. Throws InvalidParamsError, or the operation error when the operation
   * would fail whoever pays. Every outcome but bad parameters leaves a decision in the store.
   */
  sponsor(request: SponsorshipRequest): Promise<SponsorshipResult>
  /** Asks no webhook and records nothing. Throws SponsorshipRefusedError when there is no tank. */
  stub(request: SponsorshipRequest): Promise<PaymasterStub>
}

/** One chain's sponsor. The order of its questions is that of docs/architecture.md. */
export const createSponsor = (context: SponsorContext): Sponsor => {
  const { database, node, definition, terms, logger } = context
  const { chainId } = definition
  const deployed = new Set<Address>()

  const isDeployed = async (tank: Address): Promise<boolean> => {
    if (deployed.has(tank)) return true
    const found = (await getCode(node, tank)) !== '0x'
    if (found) deployed.add(tank)
    return found
  }

  /** The app's tank, or why there is none to pay from. */
  const requireTank = async (appId: string, entryPoint: EntryPoint) => {
    const tank = await findTank(database, appId, chainId, entryPoint.address)
    if (tank === undefined) return { refusal: noTank(chainId, entryPoint) }
    const ready = await isDeployed(tank.address)
    return ready ? { tank } : { refusal: tankNotDeployed(tank.address) }
  }

  const askWebhooks = async (
    request: SponsorshipRequest,
    decisionId: string,
  ): Promise<Approval> => {
    const { appId, webhookData } = request
    if (webhookData === undefined) return { approved: true, calls: [] }
    const approval = await context.approver.approve({ appId, decisionId, webhookData })
    if (approval.calls.length === 0) logger.info({ appId, decisionId }, 'no_active_webhook')
    return approval
  }

  /** The operation can be sent without the tank, so it gets limits and fees for that. */
  const refuse = async (
    subject: DecisionSubject,
    request: SponsorshipRequest,
    { code, message }: Refusal,
    calls: readonly WebhookCall[] = [],
  ): Promise<SponsorshipResult> => {
    const decision = { decisionId: subject.decisionId, sponsored: false, code, message }
    await insertDecision(database, toDecisionRow(subject, decision), toCallRows(calls))
    logger.info({ appId: request.appId, ...decision }, 'sponsorship refused')
    const selfPaid = withPaymaster(request.draft, undefined)
    const estimate = await context.estimate(request.entryPoint, selfPaid)
    const limits = givenLimits(request.draft, request.calculateGasLimits)
    const operation = complete(selfPaid, { ...estimate, ...limits })
    return { decision, operation, paymasterAndData: '0x' }
  }

  const sponsor = async (given: SponsorshipRequest): Promise<SponsorshipResult> => {
    const duration = durationOf(given.expiryDuration, terms)
    const request = { ...given, draft: withSignature(given.draft) }
    const { appId, entryPoint, draft, calculateGasLimits } = request
    const decisionId = randomUUID()
    const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }

    const [{ tank, refusal }, { fast }] = await Promise.all([
      requireTank(appId, entryPoint),
      context.fees(),
    ])
    if (tank === undefined) return refuse(subject, request, refusal)
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
    const dear = judgeFees({ maxFeePerGas, maxPriorityFeePerGas }, fast, terms)
    if (dear !== undefined) return refuse(subject, request, dear)

    const head = await context.heads.refresh()
    const range = timeRange(head.timestamp, now(), duration)
    const stubbed = withPaymaster(draft, tankStub(tank.address, range))
    const [measured, approved] = await Promise.allSettled([
      Promise.all([
        context.estimate(entryPoint, stubbed),
        depositOf(node, entryPoint.address, tank.address, head.number),
      ]),
      askWebhooks(request, decisionId),
    ])
    if (approved.status === 'rejected') throw approved.reason
    const { calls } = approved.value
    if (measured.status === 'rejected') {
      const row = toDecisionRow(subject, failedEstimate(decisionId, measured.reason))
      await insertDecision(database, row, toCallRows(calls))
      throw measured.reason
    }
    const [estimate, deposit] = measured.value
    const denial = judgeApproval(approved.value)
    if (denial !== undefined) return refuse(subject, request, denial, calls)

    const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
    const unsigned = { ...complete(stubbed, { ...estimate, ...limits }), paymaster: tank.address }
    const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
    const excess = judgeGas(gas, estimate.preVerificationGas, definition)
    if (excess !== undefined) return refuse(subject, request, excess, calls)

    const key = decryptSecret(context.masterKey, signerPurpose, tank.signer_key) as Hex
    const signer = { address: tank.signer, key }
    const signed = signSponsorship(unsigned, entryPoint, chainId, range, signer)
    faultPoint('sponsorship:signed')
    const maxCost = entryPoint.requiredPrefund(signed)
    const decision = {
      decisionId,
      sponsored: true,
      code: 'SPONSORED',
      message: `Sponsored up to ${maxCost} wei until ${range.validUntil}.`,
    }
    const reservation = { userOpHash: entryPoint.hash(signed, chainId), maxCost, ...range }
    const { granted, locked } = await reserveSponsorship(
      database,
      tank.id,
      toDecisionRow(subject, decision, reservation),
      toCallRows(calls),
      { deposit, blockNumber: head.number, timestamp: head.timestamp },
    )
    faultPoint('sponsorship:committed')
    if (!granted) {
      const empty = tankEmpty(tank.address, { deposit, locked, maxCost })
      return refuse(subject, request, empty, calls)
    }
    logger.info({ appId, ...decision }, 'sponsored')
    const paymasterAndData = concatHex([tank.address, signed.paymasterData])
    return { decision, operation: signed, paymasterAndData }
  }

  const stub = async ({ appId, entryPoint, expiryDuration }: SponsorshipRequest) => {
    const duration = durationOf(expiryDuration, terms)
    const { tank, refusal } = await requireTank(appId, entryPoint)
    if (tank === undefined) throw new SponsorshipRefusedError(refusal)
    return tankStub(tank.address, timeRange(0, now(), duration))
  }

  return { sponsor, stub }
}

const now = (): number => Math.floor(Date.now() / 1000)

const failedEstimate = (decisionId: string, reason: unknown) => ({
  decisionId,
  sponsored: false,
  code: 'ESTIMATION_FAILED',
  message: reason instanceof PurserError ? reason.message : 'The operation cannot be estimated.',
})
