import type { EntryPoint } from '../../../entrypoint/entryPoint.js'
import { InvalidParamsError, UnsupportedEntryPointError } from '../../../errors/requestErrors.js'
import type { SigningPhase, SponsorshipRequest } from '../../../paymaster/sponsorship.js'
import type { QuoteRequest, TokenRequest } from '../../../paymaster/tokenPayment.js'
import { requireChainId } from './chainId.js'
import { type DecodeContext, decodeEntryPoint } from './entryPoint.js'
import { decodeContext, type Mode } from './mode.js'
import { decodeCommitted, decodePartialOperation, isUnpacked } from './operation.js'

/** A decoded request for sponsorship; the app comes from the key in the path. */
export type SponsoredMode = Omit<SponsorshipRequest, 'appId'> & {
  readonly mode: 'SPONSORED'
  readonly separateSignature: boolean
  /** The form in which the client takes a refusal: only the interface's own has a result for it. */
  readonly refusal: 'result' | 'error'
}

/** A decoded request to pay in tokens, or to hear what that costs; the app comes from the key. */
export type TokenModeParams = Omit<TokenRequest & QuoteRequest, 'appId'> & {
  readonly mode: 'ERC20'
}

export type PaymasterRequest = SponsoredMode | TokenModeParams

/** ERC-7677: [operation, entryPoint, chainId, context]. The account may sign first in `phase` only. */
export function decodePaymasterParams(phase: SigningPhase) {
  return (
    [operation, address, chainId, paymasterContext]: readonly unknown[],
    chain: DecodeContext,
  ): PaymasterRequest => {
    requireChainId(chainId, 'params[2]', chain)
    const mode = decodeContext(paymasterContext, 'params[3]')
    const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
    if (mode.mode === 'SPONSORED' && mode.signingPhase !== undefined)
      requirePhase(mode.signingPhase, phase, entryPoint)
    return withOperation(mode, operation, entryPoint, 'error')
  }
}

function requirePhase(named: SigningPhase, phase: SigningPhase, entryPoint: EntryPoint): void {
  if (named !== phase)
    throw new InvalidParamsError(
      'params[3].signingPhase',
      `must be "${phase}" here: commit by pm_getPaymasterStubData, finalize by pm_getPaymasterData.`,
    )
  if (!entryPoint.paymasterMaySignLate)
    throw new InvalidParamsError(
      'params[3].signingPhase',
      `needs EntryPoint v0.9: in v${entryPoint.version} the account signs the paymaster's signature.`,
    )
}

/** The request of a mode object for the operation in params[0]. */
export function withOperation(
  mode: Mode,
  operation: unknown,
  entryPoint: EntryPoint,
  refusal: SponsoredMode['refusal'],
): PaymasterRequest {
  const { version } = entryPoint
  if (mode.mode === 'ERC20')
    return { ...mode, entryPoint, draft: decodePartialOperation(operation, 'params[0]', version) }
  const decode = mode.signingPhase === 'finalize' ? decodeCommitted : decodePartialOperation
  return { ...mode, entryPoint, refusal, draft: decode(operation, 'params[0]', version) }
}

/**
 * The EntryPoint of an operation where the parameters name none, by the shape of the operation:
 * separate fields of factory or paymaster mean v0.7 or later, the first such one that the chain has.
 */
export function inferEntryPoint(operation: unknown, { entryPoints }: DecodeContext): EntryPoint {
  const candidates = [...entryPoints.values()]
  const unpacked = isUnpacked(operation)
  const inferred =
    candidates.find(({ packsEntities }) => packsEntities !== unpacked) ?? candidates[0]
  if (inferred === undefined) throw new UnsupportedEntryPointError('none', [])
  return inferred
}
