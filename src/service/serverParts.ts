import type { Logger } from 'pino'
import type { OutboundClient } from '../base/outbound/guardedRequest.js'
import type { NetworkGuard } from '../base/outbound/networkGuard.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Instance } from '../config/instance.js'
import type { Config } from '../config/options.js'
import type { Connection, Database } from '../db/database.js'
import type { MetricsPage, Siblings } from '../telemetry/createMetrics.js'
import type { OperationTraces } from '../telemetry/traces/operationTraces.js'
import type { Oidc } from '../tenants/people/createOidc.js'
import type { SignInLinks } from '../tenants/people/createSignInLinks.js'
import type { Passwords } from '../tenants/people/passwords.js'
import type { ServedChains } from './startChains.js'

export type ServerOptions = {
  readonly config: Config
  readonly chains: readonly ChainDefinition[]
  readonly connection: Connection
  readonly database: Database
  /** The same database for lists, administration and retention, whose statements are planned one by one. */
  readonly adminDatabase: Database
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

/** What the parts of a service share. */
export type SharedParts = ServerOptions & {
  readonly passwords: Passwords
  readonly signInLinks: SignInLinks
  /** The identity provider; undefined = none is configured. */
  readonly oidc: Oidc | undefined
  readonly guard: NetworkGuard
  readonly client: OutboundClient
  readonly metrics: MetricsPage
}

/** The processes that share a listener, this one included. */
export function processesOf({
  config,
  siblings,
}: Pick<ServerOptions, 'config' | 'siblings'>): number {
  return siblings === undefined ? 1 : config.processes
}

export type Chains = Pick<ServedChains, 'running' | 'served' | 'away'>
