import type { Address, Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import { usdText } from '../base/bigints.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'

/** A call that the account makes in the operation. */
type SubjectCall = {
  readonly to: Address
  /** wei */
  readonly value: bigint
  readonly data: Hex
}

/** The operation to sponsor, with the facts that its app's webhooks may get. */
export type SponsorshipSubject = {
  readonly chainId: number
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  /** undefined = the call data is of an account that cannot be read */
  readonly calls: readonly SubjectCall[] | undefined
  /** The only policy of the app that can still pay; undefined = several can, or it has none. */
  readonly policyId: string | undefined
  /** Millionths of a USD per 10^18 wei; undefined = unknown */
  readonly nativePrice: bigint | undefined
  /**
   * wei that the sponsorship will be signed for at most, known after the estimate; undefined = it cannot be
   * signed.
   */
  readonly maxCost: Promise<bigint | undefined>
}

/**
 * The members in addition to `data`, which bind an approval to its operation. Quantities are hex as in
 * JSON-RPC, wei and USD decimal. `maxCostWei` is the most that is signed for if the app approves, so
 * this waits for the estimate; it is null when nothing will be signed. `maxCostUsd` is null then too, and
 * when there is no price.
 */
export async function extendedPayload(
  subject: SponsorshipSubject,
  appId: string,
  timestamp: number,
) {
  const { chainId, entryPoint, draft, calls, policyId, nativePrice } = subject
  const cost = await subject.maxCost
  return {
    type: 'sponsorship.requested',
    timestamp,
    context: {
      appId,
      chainId,
      entryPoint: entryPoint.address,
      entryPointVersion: entryPoint.version,
      sender: draft.sender,
      nonce: numberToHex(draft.nonce),
      calls: calls?.map(encodeCall) ?? null,
      policyId: policyId ?? null,
      maxCostWei: cost?.toString() ?? null,
      maxCostUsd: cost === undefined || nativePrice === undefined ? null : usd(cost, nativePrice),
      userOperation: encodeDraft(draft),
    },
  }
}

/** `selector` is null for a plain transfer. */
function encodeCall({ to, value, data }: SubjectCall) {
  return {
    to,
    value: value.toString(),
    selector: data.length < 10 ? null : data.slice(0, 10),
  }
}

const NATIVE = 10n ** 18n

/** The worth of `wei` in USD with six decimals, rounded up as budgets in USD are. */
function usd(wei: bigint, microUsd: bigint): string {
  return usdText((wei * microUsd + NATIVE - 1n) / NATIVE)
}

function quantity(value: bigint | undefined): Hex | null {
  return value === undefined ? null : numberToHex(value)
}

/** The operation with the same members for every EntryPoint version; null = unset. */
function encodeDraft(draft: Draft) {
  return {
    sender: draft.sender,
    nonce: numberToHex(draft.nonce),
    factory: draft.factory ?? null,
    factoryData: draft.factory === undefined ? null : draft.factoryData,
    callData: draft.callData,
    callGasLimit: quantity(draft.callGasLimit),
    verificationGasLimit: quantity(draft.verificationGasLimit),
    preVerificationGas: quantity(draft.preVerificationGas),
    maxFeePerGas: quantity(draft.maxFeePerGas),
    maxPriorityFeePerGas: quantity(draft.maxPriorityFeePerGas),
  }
}
