import type { Address, Hex } from 'viem'
import { z } from 'zod'
import type { Requester } from '../base/requester.js'
import type { DebugBundler } from '../bundler/createDebugBundler.js'
import type { OperationNews } from '../bundler/operationNews.js'
import type {
  OperationByHash,
  OperationReceipt,
  OperationStatus,
} from '../bundler/operationViews.js'
import type { SenderNews } from '../bundler/senderNews.js'
import type { ClientReads } from '../chain/clientReads.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { ChargedOperation, Waterfall } from '../gas/waterfall.js'
import type { Mempool } from '../mempool/createMempool.js'
import type { AppEstimateOptions, AppFees } from '../paymaster/appFees.js'
import type { TokenPaymaster } from '../paymaster/createTokenPaymaster.js'
import type { TokenPrice } from '../paymaster/prices/createPrices.js'
import type { Sponsor } from '../paymaster/sponsor.js'
import type { ChainEngine } from '../simulation/chainEngine.js'
import type { WitnessedRun } from '../simulation/witness.js'
import type { NewRefusal } from '../records/refusals.js'
import type { AppSponsor } from '../tenants/apps.js'
import type { BalanceChange, SimulatedAssets } from '../simulation/simulateAssets.js'
import type { Actor } from '../tenants/audit.js'
import type { Authenticator } from '../tenants/authenticate.js'
import type { KeyOwner } from '../tenants/keyOwner.js'
import { address, type Row, wei } from '../tenants/schemas.js'
import type { Webhook, Webhooks } from '../webhooks/manage.js'

/**
 * The services of one chain that the interface needs. All arguments are decoded and checked for form; refusals
 * are thrown as classes of `errors/`, anything else thrown counts as our own fault.
 */
export type ChainServices = AppFees &
  Mempool &
  Pick<Sponsor, 'sponsor' | 'stub' | 'tanks'> & {
    readonly chainId: number
    readonly name: string
    /** Where people look at its transactions. */
    readonly explorerUrl: string | undefined
    /** The symbol of its coin, and USD for one of it where the operator configures a price or its sources. */
    readonly coin: { readonly symbol: string; usd(): Promise<string | undefined> }
    /** By lower-case address, the preferred one first. Never empty. */
    readonly entryPoints: ReadonlyMap<Address, EntryPoint>
    /** undefined = unknown. */
    status(hash: Hex): Promise<OperationStatus | undefined>
    /** undefined = unknown or not included. */
    receipt(hash: Hex): Promise<OperationReceipt | undefined>
    /** undefined = the sequencer has not promised its inclusion, or there is none that promises. */
    preconfirmed(hash: Hex): Promise<OperationReceipt | undefined>
    byHash(hash: Hex): Promise<OperationByHash | undefined>
    /** See `neededCallGas`; of an operation in the block that included it. Throws CannotSimulateError. */
    neededGas(included: IncludedCall): Promise<bigint | undefined>
    /** See `explainCharge`. */
    waterfall(
      entryPoint: EntryPoint,
      charged: ChargedOperation,
      requester: Requester | undefined,
    ): Promise<Waterfall>
    /** See `simulateAssets`; limits that the draft lacks are those of an estimate for the app. */
    assets(
      entryPoint: EntryPoint,
      draft: Draft,
      asker: Pick<AppEstimateOptions, 'appId' | 'requester'>,
    ): Promise<SimulatedAssets>
    balanceChanges(holder: Address, assets: SimulatedAssets): Promise<readonly BalanceChange[]>
    readonly witnesses: Witnesses
    /** The time of the newest block that no reorganisation undoes and that the ledger knows; undefined = none yet. */
    finalTime(): Promise<Date | undefined>
    readonly follow: OperationNews['follow']
    readonly followSender: SenderNews['followSender']
    /** Present only where the operator allows `debug_bundler_*`. */
    readonly debug: DebugBundler | undefined
    /** Reads of the chain's node; absent where the operator forbids them. */
    readonly reads: ClientReads | undefined
    /** Gas paid with the sender's tokens; what is refused is thrown. */
    readonly tokens: TokenPaymaster
    /** The tokens that gas can be paid with and their prices; read from the sources at intervals, however many clients ask. */
    tokenPrices(): Promise<readonly TokenPrice[]>
    readonly previewSponsorship: Sponsor['preview']
  }

export type IncludedCall = {
  readonly entryPoint: EntryPoint
  readonly operation: Operation
  readonly blockHash: Hex
  /** The party for which it is run again; undefined = the service itself. */
  readonly requester: Requester | undefined
}

/** An accepted operation, whatever became of it. */
export type ReplayableOperation = {
  readonly entryPoint: EntryPoint
  readonly operation: Operation
  readonly userOpHash: Hex
  readonly appId: string
  /** The block that includes it. */
  readonly blockHash: Hex | undefined
  readonly isPending: boolean
  /** The party for which it is run again; undefined = the service itself. */
  readonly requester: Requester | undefined
}

/** What repeats runs of which nothing was kept. All throw CannotSimulateError. */
export type Witnesses = {
  /** Of a bundle's transaction, ours or somebody else's; undefined where our EVM does not repeat it. For `replays`. */
  mined(transactionHash: Hex): Promise<WitnessedRun | undefined>
  /** Of an operation alone: before the block that includes it, else on the newest one. */
  alone(operation: ReplayableOperation): Promise<WitnessedRun>
  /** See `ChainEngine.readState`. */
  readonly readState: ChainEngine['readState']
}

export type RegisteredWebhook = Pick<Webhook, 'webhookId' | 'webhookUrl' | 'requestType'>

/** Webhooks of one app; those of any other app do not exist here. An id may be any text. */
export type WebhookServices = Pick<Webhooks, 'update' | 'delete'> & {
  create(appId: string, webhook: Omit<RegisteredWebhook, 'webhookId'>): Promise<RegisteredWebhook>
  get(appId: string, webhookId: string): Promise<RegisteredWebhook | undefined>
}

/** Everything below the interface. `service/` wires the real parts. */
export type Services = Authenticator & {
  /** `purser/1.2.3` */
  readonly clientVersion: string
  /** The chains that are served now, by id. */
  readonly chains: ReadonlyMap<number, ChainServices>
  /**
   * Throws UnavailableError for a chain that is configured and not started yet because its node is away, and
   * NoApiRoleError where this process only bundles.
   */
  requireServed(chainId: number): void
  isOperator(token: string): boolean
  /** Whom wallets show as the sponsor of an app; undefined = nobody. */
  sponsorOf(appId: string): Promise<AppSponsor | undefined>
  readonly webhooks: (actor: Actor) => WebhookServices
  /** Takes a request from the quotas of the key and its app. Throws RateLimitError. */
  takeRequest(identity: KeyOwner): Promise<void>
  /** Counts a request of the key; neither throws nor waits. */
  countRequest(keyId: string, isRefused: boolean): void
  /** Keeps a refusal for the app's developer; neither throws nor waits. */
  readonly recordRefusal: (refusal: NewRefusal) => void
  /** Notes that a key was used; neither throws nor waits. */
  readonly keyUsed: (keyId: string) => void
  /** Whether the parts that requests need are able to work now. */
  readiness(asked: ReadinessQuestion): Promise<Readiness>
}

/** The question of a load balancer, or of a monitor of one chain or of the bundlers. */
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
  readonly alerts: readonly string[]
  /** By chain id. */
  readonly chains: Readonly<Record<string, ChainReadiness>>
}

export type ChainReadiness = {
  readonly head: number
  /** Milliseconds since the node last reported its head. */
  readonly headAge: number
  /** Whether the head is recent, as `checks` say. */
  readonly answers: boolean
  readonly bundlesHere: boolean
  /** Whether any process holds the right to bundle. */
  readonly bundled: boolean
  /** Why no bundle is sent at present, for the operator only: "waiting: base fee 310 gwei above your ceiling 200 gwei". */
  readonly waits?: string | undefined
  /** The rules that the chain announces, and when they begin (Unix seconds). */
  readonly coming?: { readonly fork: string; readonly activation: number } | undefined
  /**
   * The accounts that send bundles and that refill them, for the operator only; empty where this process
   * never bundles.
   */
  readonly executors: readonly Row<typeof executorReadiness>[]
}

/** An account that sends bundles, or that refills those. */
export const executorReadiness = z.object({
  role: z.enum(['executor', 'treasury']),
  address,
  /** `paused`: too low a balance to send anything new. */
  state: z.enum(['ready', 'busy', 'paused']),
  balance: wei,
  /** Transactions whose outcome is not known yet. */
  inFlight: z.int(),
})
