import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AdminContext } from '../api/adminContext.js'
import { type ApiLimits, defaultLimits, gateLimits } from '../api/limits.js'
import { mountAdmin } from '../api/mountAdmin.js'
import { mountDashboard } from '../api/mountDashboard.js'
import { mountHealth } from '../api/mountHealth.js'
import { mountMetrics } from '../api/mountMetrics.js'
import type { ChainServices, Services } from '../api/services.js'
import { type Api, startApi } from '../api/startApi.js'
import { stopAll } from '../base/stopAll.js'
import { version } from '../base/version.js'
import type { BundlingCandidate } from '../bundling/leadBundling.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Config } from '../config/options.js'
import { ConfigError } from '../errors/configError.js'
import { ChainNotStartedError, NoApiRoleError } from '../errors/requestErrors.js'
import { createMetrics, type Metrics } from '../metrics/createMetrics.js'
import { createOutboundClient, type OutboundClient } from '../outbound/guardedRequest.js'
import { createNetworkGuard, type NetworkGuard } from '../outbound/networkGuard.js'
import { createKeyUses, type KeyUses } from '../records/createKeyUses.js'
import { createOverviews } from '../records/createOverviews.js'
import { createRefusalRecorder, type RefusalRecorder } from '../records/createRefusalRecorder.js'
import { startRetention } from '../records/startRetention.js'
import type { Connection, Database } from '../store/database.js'
import { emitCircuitOpened } from '../store/events.js'
import { LEASES_CHANNEL } from '../store/leases.js'
import { listen } from '../store/notifications.js'
import { OPERATIONS_CHANNEL } from '../store/pool/operations.js'
import { poolSizes } from '../store/poolSizes.js'
import { recordCircuit } from '../store/records/circuits.js'
import { findSponsor } from '../store/tenants/apps.js'
import { type Authenticator, createAuthenticator } from '../tenancy/authenticate.js'
import { createOperatorCheck } from '../tenancy/operatorToken.js'
import { type Approver, createApprover } from '../webhook/approve.js'
import { createWebhookTests } from '../webhook/createWebhookTests.js'
import { startEventDeliverer } from '../webhook/deliverEvents.js'
import { createWebhooks } from '../webhook/manage.js'
import { createSubscriptions } from '../webhook/subscriptions.js'
import { checkReadiness } from './checkReadiness.js'
import { startChain } from './startChain.js'
import { type ServedChains, startChains } from './startChains.js'

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
  readonly logger: Logger
}

/** The settings that all chains share. */
export type ServerConfig = Pick<
  Config,
  | 'host'
  | 'port'
  | 'minSponsorshipSeconds'
  | 'maxSponsorshipSeconds'
  | 'operatorToken'
  | 'trustedProxies'
  | 'keyRate'
  | 'ipRate'
  | 'senderRate'
  | 'simulationsPerKey'
  | 'simulations'
  | 'role'
  | 'leaseSeconds'
  | 'drainSeconds'
  | 'debugMethods'
  | 'nativePrices'
  | 'decisionRetentionDays'
  | 'refusalRetentionDays'
  | 'operationRetentionDays'
>

export type Service = {
  readonly url: string
  /** By chain id, the sentence that says why a configured chain is not served yet. */
  readonly awayChains: ReadonlyMap<number, string>
  /**
   * Reports that it is not ready and gives the bundling to other processes, goes on serving for
   * `drainSeconds`, then lets running requests end.
   */
  close(): Promise<void>
}

/**
 * Starts the service: makes every part and connects them. What is started here is stopped by `close`,
 * also when a later part does not start.
 * @throws ConfigError, ListenError in one sentence
 */
export async function startServer(options: ServerOptions): Promise<Service> {
  const { config, database, webhookAllow, logger } = options
  if (config.debugMethods && !isLoopback(config.host))
    throw new ConfigError(
      `--debug-methods lets every caller clear the pool: listen on 127.0.0.1, not on ${config.host}.`,
    )
  const stops: (() => Promise<void>)[] = []
  try {
    const guard = createNetworkGuard(webhookAllow)
    const client = createOutboundClient(guard)
    stops.push(async () => client.close())
    const metrics = createMetrics()
    metrics.readPoolWith(() => poolSizes(database))
    const shared: SharedParts = { ...options, guard, client, metrics }
    stops.push(startDeliverer(shared).close)
    const approver = approverOf(shared)
    const served = new Map<number, ChainServices>()
    const start = async (definition: ChainDefinition) => {
      const chain = await startChain(definition, { ...shared, approver })
      served.set(definition.chainId, chain.services)
      return chain
    }
    const chains = await startChains(options.chains, start, logger)
    stops.push(chains.close)
    if (config.role.includes('bundler')) stops.push(...(await listenForBundlers(options, chains)))
    stops.push(startRetention({ database, logger, days: retentionOf(config) }).stop)
    const refusals = recorderOf(shared)
    stops.push(refusals.stop)
    const keyUses = createKeyUses(database, logger)
    stops.push(keyUses.stop)
    const drain = { isDraining: false }
    const api = await startApiOf(shared, { ...chains, served }, { refusals, keyUses }, drain)
    stops.push(api.close)
    const close = async (): Promise<void> => {
      drain.isDraining = true
      api.drain()
      const resigned = chains.settle().then(() => Promise.all(bundlersOf(chains).map(stopBundler)))
      await Promise.allSettled([delay(config.drainSeconds * 1000), resigned])
      await stopAll(stops)
    }
    return { url: api.url, awayChains: chains.away, close }
  } catch (error) {
    await stopAll(stops).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
}

function retentionOf(config: ServerConfig) {
  return {
    decisions: config.decisionRetentionDays,
    refusals: config.refusalRetentionDays,
    operations: config.operationRetentionDays,
  }
}

/** The recorder of refusals; one that keeps nothing where the operator wants none kept. */
function recorderOf({ config, database, metrics, logger }: SharedParts): RefusalRecorder {
  if (config.refusalRetentionDays === 0) return { record: () => {}, stop: async () => {} }
  return createRefusalRecorder({ database, logger, onLost: metrics.refusalsLost })
}

type SharedParts = ServerOptions & {
  readonly guard: NetworkGuard
  readonly client: OutboundClient
  readonly metrics: Metrics
}

type Chains = Pick<ServedChains, 'running' | 'away'>

function bundlersOf({ running }: Chains): BundlingCandidate[] {
  return [...running.values()].flatMap(({ bundler }) => bundler ?? [])
}

function stopBundler(bundler: BundlingCandidate): Promise<void> {
  return bundler.stop()
}

function approverOf({ database, masterKey, client, metrics, logger }: SharedParts): Approver {
  const recordChange = (webhookId: string, state: 'open' | 'closed'): void => {
    recordCircuit(database, webhookId, state).catch((error: Error) =>
      logger.warn({ webhookId, reason: error.message }, 'the circuit was not recorded'),
    )
  }
  return createApprover({
    database,
    masterKey,
    client,
    onApprovalCalled: metrics.approvalCalled,
    onCircuitOpened: (webhookId) => {
      metrics.circuitOpened()
      logger.warn({ webhookId }, 'a webhook failed so often that it is left alone')
      emitCircuitOpened(database, webhookId).catch((error: Error) =>
        logger.warn({ webhookId, reason: error.message }, 'webhook.circuit_opened not told'),
      )
      recordChange(webhookId, 'open')
    },
    onCircuitClosed: (webhookId) => recordChange(webhookId, 'closed'),
  })
}

function startDeliverer({ database, masterKey, client, metrics, logger }: SharedParts) {
  const onDeliveryAttempted = metrics.deliveryAttempted
  return startEventDeliverer({ database, masterKey, client, logger, onDeliveryAttempted })
}

/** Lets announced operations wake their chain's bundler, and freed leases be taken. */
async function listenForBundlers(
  { connection, logger }: ServerOptions,
  chains: Chains,
): Promise<(() => Promise<void>)[]> {
  const wake = (chainId: string) => chains.running.get(Number(chainId))?.bundler?.wake()
  const compete = () => {
    for (const bundler of bundlersOf(chains)) bundler.compete()
  }
  const operations = await listen(connection, OPERATIONS_CHANNEL, logger, wake)
  try {
    return [operations.close, (await listen(connection, LEASES_CHANNEL, logger, compete)).close]
  } catch (error) {
    await operations.close()
    throw error
  }
}

type Recorders = {
  readonly refusals: RefusalRecorder
  readonly keyUses: KeyUses
}

function startApiOf(
  shared: SharedParts,
  { served, ...chains }: Chains & { readonly served: Services['chains'] },
  { refusals, keyUses }: Recorders,
  drain: { readonly isDraining: boolean },
): Promise<Api> {
  const { config, database, logger, metrics } = shared
  const { host, port } = config
  const readiness: Services['readiness'] = (asked) => {
    const health = new Map([...chains.running].map(([id, chain]) => [id, chain.health]))
    const { isDraining } = drain
    const { role: roles } = config
    return checkReadiness({ database, chains: health, away: chains.away, isDraining, roles }, asked)
  }
  const administration = administrationOf(shared, { ...chains, served }, readiness)
  const { authenticateKey, authenticateToken, isOperator, webhooks } = administration
  const isApi = config.role.includes('api')
  const services: Services = {
    clientVersion: `purser/${version}`,
    chains: served,
    requireServed: (chainId) => {
      if (!isApi) throw new NoApiRoleError()
      if (chains.away.has(chainId)) throw new ChainNotStartedError(chainId)
    },
    authenticateKey,
    authenticateToken,
    isOperator,
    sponsorOf: (appId) => findSponsor(database, appId),
    webhooks,
    recordRefusal: refusals.record,
    keyUsed: keyUses.used,
    readiness,
  }
  const mounts = [
    mountHealth(services),
    mountMetrics(isOperator),
    ...(isApi ? [mountAdmin(administration), dashboardOf(shared, administration)] : []),
  ]
  return startApi({ services, host, port, logger, limits: limitsOf(config), metrics, mounts })
}

function administrationOf(
  { config, database, masterKey, guard, client }: SharedParts,
  chains: Chains & { readonly served: Services['chains'] },
  readiness: Services['readiness'],
): AdminContext & Authenticator {
  return {
    database,
    ...createAuthenticator(database),
    isOperator: createOperatorCheck(config.operatorToken),
    webhooks: (actor) => createWebhooks({ database, masterKey, guard, actor }),
    subscriptions: (actor) => createSubscriptions({ database, masterKey, guard, actor }),
    testWebhook: createWebhookTests({ masterKey, client }),
    depositOf: async (chainId, ...tank) => chains.running.get(chainId)?.depositOf(...tank),
    chains: chains.served,
    readiness,
    nodesOf: (chainId) => chains.running.get(chainId)?.nodes(),
    overview: createOverviews(database),
    tokenBooks: async (appId) => {
      // Without a chain the books would look complete and not be it.
      for (const chainId of chains.away.keys()) throw new ChainNotStartedError(chainId)
      const books = [...chains.running.values()].map((chain) => chain.books.list(appId))
      return (await Promise.all(books)).flat()
    },
  }
}

function dashboardOf(
  { database, masterKey, guard, chains: definitions }: SharedParts,
  { authenticateKey, authenticateToken }: Authenticator,
) {
  return mountDashboard({
    database,
    authenticateKey,
    authenticateToken,
    chainIds: new Set(definitions.map(({ chainId }) => chainId)),
    webhooks: (actor, database) => createWebhooks({ database, masterKey, guard, actor }),
  })
}

function limitsOf(config: ServerConfig): ApiLimits {
  return {
    ...defaultLimits,
    trustedProxies: config.trustedProxies,
    gate: gateLimits(
      { key: config.keyRate, ip: config.ipRate, sender: config.senderRate },
      { perKey: config.simulationsPerKey, all: config.simulations },
    ),
  }
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|::1)$/.test(host)
}
