import type { Address } from 'viem'
import { SponsorshipRefusedError } from '../base/errors/sponsorshipErrors.js'
import { unixNow } from '../base/unixNow.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { createDeposits } from './entryPointDeposit.js'
import { previewSponsorship } from './sponsor/previewSponsorship.js'
import {
  createReserving,
  type SponsorContext,
  type SponsorParts,
} from './sponsor/sponsorContext.js'
import { sponsorOperation } from './sponsor/sponsorOperation.js'
import { type PaymasterStub, stubRange, tankStub, withSignature } from './sponsoredDraft.js'
import type { PolicyPreview, SponsorshipRequest, SponsorshipResult } from './sponsorship.js'
import { durationOf, timeRange } from './sponsorshipTerms.js'
import { createPayers } from './tank/payer.js'

/** The sponsor of one chain. */
export type Sponsor = {
  /**
   * Decides; when the answer is yes, reserves and signs. A refusal is a result with limits for
   * sending the operation self-paid. Throws InvalidParamsError, or the operation error when the
   * operation would fail with any payer. Every outcome but bad parameters leaves a decision in the
   * store.
   */
  sponsor(request: SponsorshipRequest): Promise<SponsorshipResult>
  /**
   * The paymaster's part to estimate with; undefined where no paymaster pays. Asks no webhook and
   * records nothing. Throws SponsorshipRefusedError when there is no tank.
   */
  stub(request: SponsorshipRequest): Promise<PaymasterStub | undefined>
  /**
   * The decision that `sponsor` would make, with the answer of each policy, but without a webhook,
   * a reservation or a record. Throws as `sponsor` does.
   */
  preview(request: SponsorshipRequest): Promise<PolicyPreview>
  /** The tanks that would sign for an app: the one that gives gas, then the one that takes tokens. */
  tanks(appId: string, entryPoint: EntryPoint): Promise<readonly Address[]>
}

/** Makes one chain's sponsor. */
export function createSponsor(context: SponsorContext): Sponsor {
  const parts: SponsorParts = {
    ...context,
    payers: createPayers(context),
    depositAt: createDeposits(context.node),
    reserve: createReserving(context.database),
  }
  return {
    sponsor: (request) => sponsorOperation(parts, signable(request)),
    preview: (request) => previewSponsorship(parts, signable(request)),
    stub: (request) => stubOf(parts, signable(request)),
    tanks: (appId, entryPoint) => tanksOf(parts, appId, entryPoint),
  }
}

function signable(request: SponsorshipRequest): SponsorshipRequest {
  return { ...request, draft: withSignature(request.draft) }
}

async function stubOf(
  { payers, terms }: SponsorParts,
  { appId, entryPoint, draft, signingPhase, expiryDuration }: SponsorshipRequest,
): Promise<PaymasterStub | undefined> {
  const duration = durationOf(expiryDuration, terms)
  const { payer, refusal } = await payers.findPayer(appId, entryPoint)
  if (payer === undefined) throw new SponsorshipRefusedError(refusal)
  const { tank } = payer
  if (tank === undefined) return undefined
  const isCommitted = signingPhase === 'commit'
  const range = isCommitted ? timeRange(0, unixNow(), duration) : stubRange
  return tankStub(tank.address, range, entryPoint, draft, isCommitted)
}

async function tanksOf(
  { payers }: SponsorParts,
  appId: string,
  entryPoint: EntryPoint,
): Promise<readonly Address[]> {
  const [{ payer }, tokenTank] = await Promise.all([
    payers.findPayer(appId, entryPoint),
    payers.findTokenTank(appId, entryPoint),
  ])
  return [payer?.tank, tokenTank].flatMap((tank) => (tank === undefined ? [] : [tank.address]))
}
