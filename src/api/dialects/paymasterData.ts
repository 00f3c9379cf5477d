import { getAddress, numberToHex } from 'viem/utils'
import type { Draft } from '../../erc4337/draft.js'
import type { Version } from '../../erc4337/entryPoint.js'
import { versionFacts } from '../../erc4337/versionFacts.js'
import { toFloatUp } from '../../paymaster/formatUnits.js'
import type { PaymasterStub } from '../../paymaster/sponsoredDraft.js'
import type {
  PolicyPreview,
  SponsorshipDecision,
  SponsorshipResult,
} from '../../paymaster/sponsorship.js'
import type { FeeQuote, FeeQuotes, TokenPayment } from '../../paymaster/tokenPayment.js'
import type { AppSponsor } from '../../tenants/apps.js'
import { encodeHexFees, encodeLimits, encodePayer, packEntity } from './operationFields.js'

/**
 * ERC-7677 stub. Not final: the wallet estimates with it and asks again; unless its account signs
 * first, for then the data is that of the stub and only a signature is asked for later.
 */
export function encodeStub({ payer, version, separateSignature, isFinal, sponsor }: VersionedStub) {
  return {
    ...(versionFacts[version].packsEntities
      ? { paymasterAndData: packEntity(payer?.paymaster, payer?.paymasterData ?? '0x') }
      : payer && encodePayer(payer, separateSignature)),
    ...(payer === undefined && noFees),
    ...(sponsor !== undefined && { sponsor }),
    isFinal,
  }
}

/** Clients merge what we answer into the operation: without a paymaster it must offer nothing. */
const noFees = { maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }

/** ERC-7677 data, with all gas limits that were signed. */
export function encodePaymasterData(result: PaymasterAnswer) {
  return {
    ...encodeSponsor(result),
    ...encodeLimits(result.operation, numberToHex),
    ...encodeFreeFees(result),
  }
}

/**
 * ERC-7677 data. Gas limits only where others were signed than the `given` ones: clients that ask once, before they
 * estimated, take them from here, while others add to a limit that they find here (Safe's relay-kit) or take all or none
 * (thirdweb).
 */
export function encodeAskedData(result: PaymasterAnswer & { readonly given?: Draft }) {
  const { operation, given } = result
  const isGiven = limitNames.every((name) => operation[name] === given?.[name])
  return isGiven
    ? { ...encodeSponsor(result), ...encodeFreeFees(result) }
    : encodePaymasterData(result)
}

const limitNames = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const

/** The same with the fees that were signed, for clients that leave them to the paymaster too. */
export function encodePaymasterAndFees(result: PaymasterAnswer) {
  return { ...encodePaymasterData(result), ...encodeHexFees(result.operation) }
}

/** The fees of an operation that is sponsored without a paymaster. */
function encodeFreeFees(result: PaymasterAnswer) {
  return (
    result.mode === 'SPONSORED' &&
    result.decision.sponsored &&
    result.operation.paymaster === undefined &&
    noFees
  )
}

/**
 * The fees of an operation that a tank has signed, which it may have chosen, or that is sponsored without
 * a paymaster. Nothing for a refusal.
 */
export function encodeSignedFees(result: PaymasterAnswer, encode: (wei: bigint) => string) {
  const { paymaster, maxFeePerGas, maxPriorityFeePerGas } = result.operation
  if (result.mode === 'SPONSORED' && !result.decision.sponsored) return {}
  if (paymaster === undefined) return encodeFreeFees(result)
  return {
    maxFeePerGas: encode(maxFeePerGas),
    maxPriorityFeePerGas: encode(maxPriorityFeePerGas),
  }
}

/** The paymaster fields of a sponsorship in the shape of its EntryPoint version. */
export function encodeSponsor({
  version,
  operation,
  paymasterAndData,
  separateSignature,
}: PaymasterAnswer) {
  return versionFacts[version].packsEntities
    ? { paymasterAndData }
    : encodePayer(operation, separateSignature)
}

/** `mode` is what the SDKs read, `MODE` what the interface names; and additive, what was decided. */
export function encodeAnswer(answer: PaymasterAnswer) {
  return answer.mode === 'SPONSORED'
    ? { mode: answer.mode, MODE: answer.mode, sponsorship: encodeDecision(answer.decision) }
    : { mode: answer.mode, MODE: answer.mode, tokenPayment: encodePayment(answer) }
}

/** Amounts in smallest units of the token, as decimal text. */
function encodePayment({ token, maxCharge, rate, validUntil, decisionId }: TokenPayment) {
  return {
    tokenAddress: getAddress(token.address),
    symbol: token.symbol,
    decimal: token.decimals,
    maxCharge: maxCharge.toString(),
    rate: rate.toString(),
    markup: token.markup,
    validUntil,
    decisionId,
  }
}

/** Quotes as the SDKs read them; amounts that enter their arithmetic are floats in whole tokens. */
export function encodeQuotes({ paymaster, quotes, unsupported, nativePrice }: QuotesAnswer) {
  return {
    mode: 'ERC20',
    MODE: 'ERC20',
    paymasterAddress: getAddress(paymaster),
    feeQuotes: quotes.map((quote) => encodeQuote(quote, nativePrice)),
    unsupportedTokens: unsupported.map((address) => getAddress(address)),
  }
}

function encodeQuote(
  { token, maxCharge, rate, validUntil }: FeeQuote,
  nativePrice: bigint | undefined,
) {
  return {
    symbol: token.symbol,
    name: token.name,
    decimal: token.decimals,
    tokenAddress: getAddress(token.address),
    maxGasFee: toFloatUp(maxCharge, token.decimals),
    ...(nativePrice !== undefined && {
      maxGasFeeUSD: Number((maxCharge * nativePrice) / rate) / 1_000_000,
    }),
    exchangeRate: rate <= Number.MAX_SAFE_INTEGER ? Number(rate) : rate.toString(),
    premiumPercentage: String((token.markup - 1_000_000) / 10_000),
    validUntil,
    logoUrl: token.logoUrl ?? '',
  }
}

/** Additive to the interface: says why, also in a refusal. */
function encodeDecision({ sponsored, code, message, decisionId }: SponsorshipDecision) {
  return {
    sponsored,
    code,
    message,
    decisionId,
  }
}

/** The same in both dialects: it holds words and ids only. */
export function encodePreview({ sponsored, code, message, policyId, policies }: PolicyPreview) {
  return {
    sponsored,
    code,
    message,
    policyId: policyId ?? null,
    policies,
  }
}

/** The form in which the client that asked reads the paymaster's answer. */
type Form = {
  /** The version in whose shape the operation is written. */
  readonly version: Version
  /** A late signature (v0.9) goes into a field of its own, not behind paymasterData. */
  readonly separateSignature: boolean
}

/** `isFinal`: the account may sign already. */
export type VersionedStub = Form & {
  /** undefined = no paymaster pays, the operation goes without fees. */
  readonly payer: PaymasterStub | undefined
  readonly isFinal: boolean
  /** Whom the wallet shows as the one that pays; undefined = nobody. */
  readonly sponsor: AppSponsor | undefined
}

export type VersionedSponsorship = SponsorshipResult & Form & { readonly mode: 'SPONSORED' }

/** A token tank never signs late. */
type VersionedPayment = TokenPayment & Form & { readonly mode: 'ERC20' }

export type PaymasterAnswer = VersionedSponsorship | VersionedPayment

export type QuotesAnswer = FeeQuotes & { readonly mode: 'QUOTES' }
