import type { Version } from '../../entrypoint/entryPoint.js'
import type { PaymasterStub } from '../../paymaster/sponsoredDraft.js'
import type { SponsorshipResult } from '../../paymaster/sponsorship.js'
import type { FeeQuotes, TokenPayment } from '../../paymaster/tokenPayment.js'
import type { AppSponsor } from '../../store/schema.js'

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
export type VersionedPayment = TokenPayment & Form & { readonly mode: 'ERC20' }

export type PaymasterAnswer = VersionedSponsorship | VersionedPayment

export type QuotesAnswer = FeeQuotes & { readonly mode: 'QUOTES' }
