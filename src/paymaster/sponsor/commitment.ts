import type { Refusal } from '../../base/errors/catalogue.js'
import { timeText } from '../../base/unixNow.js'
import type { Draft } from '../../erc4337/draft.js'
import { splitPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import { type GasEstimate, headroomIn, preVerificationBounds } from '../../gas/estimateOperation.js'
import type { PaymasterStub } from '../sponsoredDraft.js'
import { parseTankData } from '../tank/tankData.js'
import type { SponsoredLimits } from './sponsoredLimits.js'

/** The span in which a sponsorship that is signed now may end, Unix seconds. */
type Bounds = { readonly earliest: number; readonly latest: number }

/**
 * The time range that an account signs, or has signed, before its tank (EntryPoint v0.9), or the
 * refusal of an operation that does not carry the fields of the stub.
 */
export function readCommitment(
  op: Pick<Draft, keyof PaymasterStub>,
  stub: PaymasterStub,
  { earliest, latest }: Bounds,
): { readonly range: TimeRange } | { readonly refusal: Refusal } {
  for (const field of ['paymaster', 'paymasterPostOpGasLimit'] as const) {
    if (op[field] !== stub[field]) return changed(field, `is ${op[field]}, not ${stub[field]}`)
  }
  const minimum = stub.paymasterVerificationGasLimit
  const { paymasterVerificationGasLimit: limit = 0n } = op
  if (limit < minimum) {
    return changed('paymasterVerificationGasLimit', `is ${limit}, less than ${minimum}`)
  }
  const late = splitPaymasterSignature(op.paymasterData)
  const parsed = late && parseTankData(`${late.data}${late.signature.slice(2)}` as const)
  if (parsed === undefined) return changed('paymasterData', 'is not what a stub holds')
  const { validAfter, validUntil } = parsed
  if (validUntil < earliest || validUntil > latest) {
    const code = 'COMMITMENT_EXPIRED'
    const message = `The operation names ${timeText(validUntil)} as the end of its sponsorship; it must lie from ${timeText(earliest)} to ${timeText(latest)}. Ask for a new stub and let the account sign again.`
    return { refusal: { code, message } }
  }
  return { range: { validAfter, validUntil } }
}

function changed(field: string, difference: string): { readonly refusal: Refusal } {
  const message = `${field} ${difference}. Use the one from pm_getPaymasterStubData with signingPhase "commit".`
  return { refusal: { code: 'COMMITMENT_CHANGED', message } }
}

/** The limits that the account signs, or has signed. */
export function committedLimits(op: Draft): SponsoredLimits {
  return {
    callGasLimit: op.callGasLimit ?? 0n,
    verificationGasLimit: op.verificationGasLimit ?? 0n,
    preVerificationGas: op.preVerificationGas ?? 0n,
    paymasterVerificationGasLimit: op.paymasterVerificationGasLimit ?? 0n,
  }
}

/**
 * The refusal of limits that are too low. Elsewhere they are raised (see `limitsToSign`), but an
 * account that has signed them would have to sign again. A verification limit that covers what was measured, without
 * headroom, is high enough here too: a passkey takes more gas for another hash.
 */
export function checkCommittedGas(op: SponsoredLimits, estimate: GasEstimate): Refusal | undefined {
  const { callGasLimit, verificationGasLimit } = estimate
  const needed = {
    callGasLimit,
    verificationGasLimit: verificationGasLimit - headroomIn(verificationGasLimit),
    preVerificationGas: preVerificationBounds(estimate).least,
  }
  const field = (Object.keys(needed) as (keyof typeof needed)[]).find(
    (name) => op[name] < needed[name],
  )
  if (field === undefined) return undefined
  const message = `${field} is ${op[field]}, the operation needs ${needed[field]}. Estimate it with the stub and let the account sign again.`
  return { code: 'GAS_TOO_LOW', message }
}
