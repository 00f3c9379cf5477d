import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Address, concatHex } from 'viem'
import type { ChainDefinition } from '../chain/definition.js'
import type { FeeAdvice } from '../chain/feeAdvice.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { PurserError } from '../errors/purserError.js'
import { SponsorshipRefusedError } from '../errors/sponsorshipErrors.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import { judgeApproval } from '../policy/approvalRule.js'
import { judgeFees } from '../policy/feeRule.js'
import { judgeGas } from '../policy/gasRule.js'
import type { Refusal } from '../policy/refusal.js'
import type { Database } from '../store/database.js'
import { insertDecision, reserveSponsorship } from '../store/decisions.js'
import { findTank, type StoredTank } from '../store/tanks.js'
import { decryptSecret } from '../tenancy/secrets.js'
import type { Approval, WebhookCall } from '../webhook/approval.js'
import type { Approver } from '../webhook/approve.js'
import { type DecisionSubject, toCallRows, toDecisionRow } from './decisionRow.js'
import { depositOf } from './entryPointDeposit.js'
import { signerPurpose, signSponsorship } from './signSponsorship.js'
import { givenLimits, limitsToSign } from './sponsoredLimits.js'
import type { SponsorshipRequest, SponsorshipResult } from './sponsorship.js'
import { durationOf, type SponsorshipTerms, timeRange } from './sponsorshipTerms.js'
import { encodeTankData, stubSignature, type TimeRange } from './tankData.js'

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

/** The paymaster's part of an operation, of final length, to estimate with (ERC-7677). */
export type PaymasterStub = Pick<
  Operation,
  'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit' | 'paymasterData'
> & { readonly paymaster: Address }

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
  const deployedTanks = new Set<Address>()

  const isDeployed = async (tank: Address): Promise<boolean> => {
    if (deployedTanks.has(tank)) return true
    const deployed = (await getCode(node, tank)) !== '0x'
    if (deployed) deployedTanks.add(tank)
    return deployed
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
    const limits = givenLimits(request.draft, request.calculateGasLimits) ?? estimate
    return {
      decision,
      operation: complete(selfPaid, { ...estimate, ...limits }),
      paymasterAndData: '0x',
    }
  }

  const sponsor = async (given: SponsorshipRequest): Promise<SponsorshipResult> => {
    const duration = durationOf(given.expiryDuration, terms)
    const request = { ...given, draft: withSignature(given.draft) }
    const { appId, entryPoint, draft, calculateGasLimits } = request
    const decisionId = randomUUID()
    const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }

    const [tank, advice] = await Promise.all([
      findTank(database, appId, chainId, entryPoint.address),
      context.fees(),
    ])
    if (tank === undefined) return refuse(subject, request, noTank(chainId, entryPoint))
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
    const dear = judgeFees({ maxFeePerGas, maxPriorityFeePerGas }, advice.fast, terms)
    if (dear !== undefined) return refuse(subject, request, dear)

    const head = await context.heads.refresh()
    const range = timeRange(head.timestamp, Math.floor(Date.now() / 1000), duration)
    const stubbed = withPaymaster(draft, stubOf(tank.address, range))
    const [estimated, approved, funds] = await Promise.allSettled([
      context.estimate(entryPoint, stubbed),
      askWebhooks(request, decisionId),
      Promise.all([
        isDeployed(tank.address),
        depositOf(node, entryPoint.address, tank.address, head.number),
      ]),
    ])
    const approval = settledValue(approved)
    const [deployed, deposit] = settledValue(funds)
    const { calls } = approval
    if (!deployed) return refuse(subject, request, notDeployed(tank), calls)
    if (estimated.status === 'rejected') {
      const row = toDecisionRow(subject, failedEstimate(decisionId, estimated.reason))
      await insertDecision(database, row, toCallRows(calls))
      throw estimated.reason
    }
    const estimate = estimated.value
    const denial = judgeApproval(approval)
    if (denial !== undefined) return refuse(subject, request, denial, calls)

    const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
    const unsigned = { ...complete(stubbed, { ...estimate, ...limits }), paymaster: tank.address }
    const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
    const excess = judgeGas(gas, estimate.preVerificationGas, definition)
    if (excess !== undefined) return refuse(subject, request, excess, calls)

    const key = decryptSecret(context.masterKey, signerPurpose, tank.signer_key)
    const signer = { address: tank.signer, key: key as `0x${string}` }
    const signed = await signSponsorship(unsigned, entryPoint, chainId, range, signer)
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
    if (!granted) {
      return refuse(subject, request, tankEmpty(tank, { deposit, locked, maxCost }), calls)
    }
    logger.info({ appId, ...decision }, 'sponsored')
    return {
      decision,
      operation: signed,
      paymasterAndData: concatHex([tank.address, signed.paymasterData]),
    }
  }

  const stub = async ({ appId, entryPoint, expiryDuration }: SponsorshipRequest) => {
    const duration = durationOf(expiryDuration, terms)
    const tank = await findTank(database, appId, chainId, entryPoint.address)
    if (tank === undefined) throw new SponsorshipRefusedError(noTank(chainId, entryPoint))
    if (!(await isDeployed(tank.address))) throw new SponsorshipRefusedError(notDeployed(tank))
    const now = Math.floor(Date.now() / 1000)
    return stubOf(tank.address, timeRange(now, now, duration))
  }

  return { sponsor, stub }
}

/** A tank needs no postOp, and on v0.6 neither limit exists. */
const stubOf = (paymaster: Address, range: TimeRange): PaymasterStub => ({
  paymaster,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: encodeTankData(range, stubSignature),
})

const withPaymaster = (draft: Draft, stub: PaymasterStub | undefined): Draft => ({
  ...draft,
  paymaster: stub?.paymaster,
  paymasterData: stub?.paymasterData ?? '0x',
  paymasterVerificationGasLimit: stub?.paymasterVerificationGasLimit,
  paymasterPostOpGasLimit: stub?.paymasterPostOpGasLimit,
})

/** Clients may ask before anything is signed; the common length is a guess better than none. */
const withSignature = (draft: Draft): Draft =>
  draft.signature === '0x' ? { ...draft, signature: stubSignature } : draft

const complete = (draft: Draft, gas: GasEstimate): Operation => ({
  ...draft,
  callGasLimit: gas.callGasLimit,
  verificationGasLimit: gas.verificationGasLimit,
  preVerificationGas: gas.preVerificationGas,
  maxFeePerGas: gas.maxFeePerGas,
  maxPriorityFeePerGas: gas.maxPriorityFeePerGas,
  paymasterVerificationGasLimit: gas.paymasterVerificationGasLimit ?? 0n,
  paymasterPostOpGasLimit: gas.paymasterPostOpGasLimit ?? 0n,
})

const noTank = (chainId: number, { version }: EntryPoint): Refusal => ({
  code: 'NO_TANK',
  message: `The app has no gas tank on chain ${chainId} for EntryPoint ${version}. The operator makes one with purser tank deposit.`,
})

const notDeployed = ({ address }: StoredTank): Refusal => ({
  code: 'TANK_NOT_DEPLOYED',
  message: `The app's gas tank ${address} is not on the chain yet. The operator puts it there with purser tank deposit.`,
})

const tankEmpty = (
  { address }: StoredTank,
  { deposit, locked, maxCost }: { deposit: bigint; locked: bigint; maxCost: bigint },
): Refusal => ({
  code: 'TANK_EMPTY',
  message: `The operation may cost ${maxCost} wei. The app's gas tank ${address} has ${deposit} wei, of which ${locked} wei are reserved for other sponsored operations. Deposit more.`,
})

const failedEstimate = (decisionId: string, reason: unknown) => ({
  decisionId,
  sponsored: false,
  code: 'ESTIMATION_FAILED',
  message: reason instanceof PurserError ? reason.message : 'The operation cannot be estimated.',
})

const settledValue = <T>(settled: PromiseSettledResult<T>): T => {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}
