import type { Address, Hex } from 'viem'
import type { DebugBundler } from '../bundling/createDebugBundler.js'
import type {
  OperationByHash,
  OperationReceipt,
  OperationStatus,
} from '../bundling/operationViews.js'
import type { ClientReads } from '../chain/clientReads.js'
import type { FeeAdvice } from '../chain/fees.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { GasEstimate } from '../gas/gasEstimate.js'
import type { TokenPaymaster } from '../paymaster/createTokenPaymaster.js'
import type { PaymasterStub } from '../paymaster/sponsoredDraft.js'
import type {
  PolicyPreview,
  SponsorshipRequest,
  SponsorshipResult,
} from '../paymaster/sponsorship.js'
import type { TokenPrice } from '../prices/tokenPrices.js'
import type { NewRefusal } from '../store/records/refusals.js'
import type { AppSponsor, Quotas } from '../store/schema.js'
import type { Actor } from '../store/tenants/audit.js'
import type { TokenOwner } from '../store/tenants/authTokens.js'
import type { KeyRestrictions } from '../store/tenants/keys.js'

/**
 * The services of one chain that the interface needs. All arguments are decoded and checked for form; refusals
 * are thrown as classes of `errors/`, anything else thrown counts as our own fault.
 */
export type ChainServices = {
  readonly chainId: number
  /** By lower-case address, the preferred one first. Never empty. */
  readonly entryPoints: ReadonlyMap<Address, EntryPoint>
  estimate(
    entryPoint: EntryPoint,
    draft: Draft,
    stateOverride: StateOverride | undefined,
    appId: string,
  ): Promise<GasEstimate>
  /** The fees that an operation of the app should offer now. */
  fees(appId: string): Promise<FeeAdvice>
  /** The userOpHash, after a durable commit; the same hash again for a known operation. */
  admit(
    entryPoint: EntryPoint,
    op: Operation,
    options: {
      readonly appId: string
      readonly keyId: string
      readonly simulateExecution: boolean
    },
  ): Promise<Hex>
  /** The hash of an operation that passes the checks of `admit`; stores nothing. */
  check(
    entryPoint: EntryPoint,
    op: Operation,
    options: { readonly appId: string; readonly simulateExecution: boolean },
  ): Promise<Hex>
  /** undefined = unknown. */
  status(hash: Hex): Promise<OperationStatus | undefined>
  /** undefined = unknown or not included. */
  receipt(hash: Hex): Promise<OperationReceipt | undefined>
  /** undefined = the sequencer has not promised its inclusion, or there is none that promises. */
  preconfirmed(hash: Hex): Promise<OperationReceipt | undefined>
  byHash(hash: Hex): Promise<OperationByHash | undefined>
  /** Present only where the operator allows `debug_bundler_*`. */
  readonly debug: DebugBundler | undefined
  /** Reads of the chain's node; absent where the operator forbids them. */
  readonly reads: ClientReads | undefined
  /** A refusal is a result, not an error. */
  sponsor(request: SponsorshipRequest): Promise<SponsorshipResult>
  /**
   * Asks no webhook and records nothing; undefined where no paymaster pays. Throws when the app cannot
   * be sponsored at all.
   */
  stub(request: SponsorshipRequest): Promise<PaymasterStub | undefined>
  /** The tanks that would sign for an app; empty where it has none. */
  tanks(appId: string, entryPoint: EntryPoint): Promise<readonly Address[]>
  /** Gas paid with the sender's tokens; what is refused is thrown. */
  readonly tokens: TokenPaymaster
  /** The tokens that gas can be paid with and their prices; the sources are asked now and then, whoever wants it. */
  tokenPrices(): Promise<readonly TokenPrice[]>
  /** The decision that `sponsor` would make; asks, reserves and records nothing. */
  previewSponsorship(request: SponsorshipRequest): Promise<PolicyPreview>
}

export type KeyIdentity = KeyRestrictions & {
  readonly keyId: string
  readonly appId: string
  readonly accountId: string
  readonly appQuotas: Quotas | null
}

export type RegisteredWebhook = {
  readonly webhookId: string
  readonly webhookUrl: string
  readonly requestType: 'GET' | 'POST'
}

/** Webhooks of one app; those of any other app do not exist here. An id may be any text. */
export type WebhookServices = {
  create(appId: string, webhook: Omit<RegisteredWebhook, 'webhookId'>): Promise<RegisteredWebhook>
  get(appId: string, webhookId: string): Promise<RegisteredWebhook | undefined>
  /** false = there is no such webhook. */
  update(appId: string, webhookId: string, active: boolean): Promise<boolean>
  /** false = there is no such webhook. */
  delete(appId: string, webhookId: string): Promise<boolean>
}

/** Everything below the interface. `service/` wires the real parts. */
export type Services = {
  /** `purser/1.2.3` */
  readonly clientVersion: string
  /** The chains that are served now, by id. */
  readonly chains: ReadonlyMap<number, ChainServices>
  /**
   * Throws UnavailableError for a chain that is configured and not started yet because its node is away, and
   * NoApiRoleError where this process only bundles.
   */
  requireServed(chainId: number): void
  /** undefined = unknown or revoked. */
  authenticateKey(key: string): Promise<KeyIdentity | undefined>
  /** undefined = unknown or revoked. */
  authenticateToken(token: string): Promise<TokenOwner | undefined>
  isOperator(token: string): boolean
  /** Whom wallets show as the sponsor of an app; undefined = nobody. */
  sponsorOf(appId: string): Promise<AppSponsor | undefined>
  readonly webhooks: (actor: Actor) => WebhookServices
  /** Takes a request from the quotas of the key and its app. Throws RateLimitError. */
  takeRequest(identity: KeyIdentity): Promise<void>
  /** Counts a request of the key; neither throws nor waits. */
  countRequest(keyId: string, isRefused: boolean): void
  /** Keeps a refusal for the app's developer; neither throws nor waits. */
  readonly recordRefusal: (refusal: NewRefusal) => void
  /** Notes that a key was used; neither throws nor waits. */
  readonly keyUsed: (keyId: string) => void
  /** Whether the parts that requests need are able to work now. */
  readiness(asked: ReadinessQuestion): Promise<Readiness>
}

/** The question of a load balancer, or of whoever watches one chain or the bundlers. */
export type ReadinessQuestion = {
  /** Only whether this chain is served; absent = whether any is. */
  readonly chainId: number | undefined
  /** `api`: ready for requests. `bundler`: able to bundle. */
  readonly role: 'api' | 'bundler'
}

/** `checks` names each part, e.g. `{ database: true, 'chain 31337': false }`. */
export type Readiness = {
  readonly ready: boolean
  /** The roles of this process. */
  readonly roles: readonly ('api' | 'bundler')[]
  readonly checks: Readonly<Record<string, boolean>>
  /** A sentence for each thing that is not as it should be. */
  readonly reasons: readonly string[]
  /** A sentence for each executor or treasury that needs something; for the operator only. */
  readonly alarms: readonly string[]
  /** By chain id. */
  readonly chains: Readonly<Record<string, ChainReadiness>>
}

export type ChainReadiness = {
  readonly head: number
  /** Milliseconds since the node last told its head. */
  readonly headAge: number
  readonly bundlesHere: boolean
  /** Whether any process holds the right to bundle. */
  readonly bundled: boolean
  /**
   * The accounts that send bundles and that refill them, for the operator only; empty where this process
   * never bundles.
   */
  readonly executors: readonly ExecutorReadiness[]
}

export type ExecutorReadiness = {
  readonly role: 'executor' | 'treasury'
  readonly address: Address
  /** `resting`: too little money to send anything new. */
  readonly state: 'ready' | 'busy' | 'resting'
  /** wei, in decimal digits */
  readonly balance: string
  /** Transactions whose outcome is not known yet. */
  readonly inFlight: number
}
