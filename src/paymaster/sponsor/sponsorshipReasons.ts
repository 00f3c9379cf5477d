import { PurserError } from '../../errors/purserError.js'
import { explainClaims, explainVerdicts } from '../../policy/explain.js'
import type { Reserved } from '../../policy/reserve.js'
import type { SponsorshipDecision } from '../sponsorship.js'
import type { Reasons } from './decisionRow.js'
import type { Sponsorable } from './evaluatedSponsorship.js'

/** The reasons of a decision that the ledger made, with its amounts: wei as decimal text. */
export function ledgerReasons(
  { payer: { credit }, verdicts, head, claim }: Sponsorable,
  reserved: Reserved,
): Reasons {
  return {
    policyId: policyIdOf(credit?.id, reserved),
    details: {
      policies: explainVerdicts(verdicts),
      maxCost: claim.maxCost.toString(),
      deposit: head.deposit?.toString(),
      locked: reserved.locked.toString(),
      budgets: explainClaims(claimsOf(reserved)),
    },
  }
}

/** The policy that decided. A credit passes the ledger as a policy does, but is no policy. */
function policyIdOf(creditId: string | undefined, reserved: Reserved): string | undefined {
  return reserved.kind === 'short' || reserved.policyId === creditId ? undefined : reserved.policyId
}

function claimsOf(reserved: Reserved) {
  if (reserved.kind === 'granted') return reserved.charges
  return reserved.kind === 'refused' ? reserved.claims : []
}

/** The decision about an operation that would fail, whoever pays. */
export function failedEstimate(decisionId: string, reason: unknown): SponsorshipDecision {
  return {
    decisionId,
    sponsored: false,
    code: 'ESTIMATION_FAILED',
    message: reason instanceof PurserError ? reason.message : 'The operation cannot be estimated.',
  }
}
