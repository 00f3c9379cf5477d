import type { Logger } from 'pino'
import type { Oidc } from '../access/createOidc.js'
import type { SignInLinks } from '../access/createSignInLinks.js'
import type { Passwords } from '../access/passwords.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Instance } from '../config/instance.js'
import type { Config } from '../config/options.js'
import type { Metrics, Siblings } from '../metrics/createMetrics.js'
import type { OutboundClient } from '../outbound/guardedRequest.js'
import type { NetworkGuard } from '../outbound/networkGuard.js'
import type { Connection, Database } from '../store/database.js'
import type { OperationTraces } from '../traces/operationTraces.js'
import type { ServedChains } from './startChains.js'

export type ServerOptions = {
  readonly config: ServerConfig
  readonly chains: readonly ChainDefinition[]
  readonly connection: Connection
  readonly database: Database
  readonly masterKey: Buffer
  /** Hosts and CIDR ranges in private networks that webhooks may use. */
  readonly webhookAllow: readonly string[]
  /** No other service runs on the database. */
  readonly alone: boolean
  /** Where this process is one of a group that shares a listener. */
  readonly siblings: Siblings | undefined
  readonly instance: Instance
  /** Undefined where nobody wants to see them. */
  readonly traces: OperationTraces | undefined
  readonly logger: Logger
}

/** The settings that all chains share. */
export type ServerConfig = Pick<
  Config,
  | 'host'
  | 'port'
  | 'publicUrl'
  | 'adminListen'
  | 'adminUrl'
  | 'adminEmail'
  | 'adminPassword'
  | 'oidc'
  | 'oidcClientSecret'
  | 'minSponsorshipSeconds'
  | 'maxSponsorshipSeconds'
  | 'operatorToken'
  | 'trustedProxies'
  | 'keyRate'
  | 'ipRate'
  | 'senderRate'
  | 'simulationsPerKey'
  | 'simulations'
  | 'simulationWorkers'
  | 'role'
  | 'leaseSeconds'
  | 'drainSeconds'
  | 'debugMethods'
  | 'nativePrices'
  | 'decisionRetentionDays'
  | 'refusalRetentionDays'
  | 'operationRetentionDays'
>

/** What the parts of a service share. */
export type SharedParts = ServerOptions & {
  readonly passwords: Passwords
  readonly signInLinks: SignInLinks
  /** The identity provider; undefined = none is configured. */
  readonly oidc: Oidc | undefined
  readonly guard: NetworkGuard
  readonly client: OutboundClient
  readonly metrics: Metrics
}

export type Chains = Pick<ServedChains, 'running' | 'away'>
