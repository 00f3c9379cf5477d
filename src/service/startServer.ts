import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createFirstUser } from '../access/createFirstUser.js'
import { createPasswords, type Passwords } from '../access/passwords.js'
import type { AdminContext } from '../api/adminContext.js'
import { type ApiLimits, defaultLimits, gateLimits } from '../api/limits.js'
import { mountAdmin } from '../api/mountAdmin.js'
import { mountDashboard } from '../api/mountDashboard.js'
import { mountHealth } from '../api/mountHealth.js'
import { mountMetrics } from '../api/mountMetrics.js'
import type { ChainServices, Services } from '../api/services.js'
import { type Api, startApi } from '../api/startApi.js'
import { stopAll } from '../base/stopAll.js'
import { buildVersion } from '../base/version.js'
import type { BundlingCandidate } from '../bundling/leadBundling.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Config } from '../config/options.js'
import { ConfigError } from '../errors/configError.js'
import { PurserError } from '../errors/purserError.js'
import { ChainNotStartedError, NoApiRoleError } from '../errors/requestErrors.js'
import { createMetrics, type Metrics } from '../metrics/createMetrics.js'
import { createOutboundClient, type OutboundClient } from '../outbound/guardedRequest.js'
import { createNetworkGuard, type NetworkGuard } from '../outbound/networkGuard.js'
import { createKeyUses } from '../records/createKeyUses.js'
import { createOverviews } from '../records/createOverviews.js'
import { createRefusalRecorder, type RefusalRecorder } from '../records/createRefusalRecorder.js'
import { startRetention } from '../records/startRetention.js'
import type { Connection, Database } from '../store/database.js'
import { emitCircuitOpened } from '../store/events.js'
import { LEASES_CHANNEL } from '../store/leases.js'
import { listen } from '../store/notifications.js'
import { OPERATIONS_CHANNEL } from '../store/pool/operations.js'
import { recordCircuit } from '../store/records/circuits.js'
import { findSponsor } from '../store/tenants/apps.js'
import { type Authenticator, createAuthenticator } from '../tenancy/authenticate.js'
import { createQuotas } from '../tenancy/createQuotas.js'
import { createUsageCounter } from '../tenancy/createUsageCounter.js'
import { createOperatorCheck } from '../tenancy/operatorToken.js'
import { createSimulations } from '../validation/simulations.js'
import { type Approver, createApprover } from '../webhook/approve.js'
import { createWebhookTests } from '../webhook/createWebhookTests.js'
import { startEventDeliverer } from '../webhook/deliverEvents.js'
import { createWebhooks } from '../webhook/manage.js'
import { createSubscriptions } from '../webhook/subscriptions.js'
import { checkReadiness } from './checkReadiness.js'
import { readGauges } from './readGauges.js'
import { startChain } from './startChain.js'
import { type ServedChains, startChains } from './startChains.js'
import { countEnd, watchEnds } from './watchEnds.js'

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
  | 'publicUrl'
  | 'adminListen'
  | 'adminUrl'
  | 'adminEmail'
  | 'adminPassword'
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

export type Service = {
  readonly url: string
  /** The listener of the administration: the same one, or one of its own. */
  readonly adminUrl: string
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
    for (const { chainId } of options.chains) metrics.startChain(chainId)
    const workers = config.simulationWorkers ?? Math.max(1, availableParallelism() - 1)
    const simulations = createSimulations({ workers, logger })
    stops.push(simulations.close)
    const passwords = createPasswords()
    const shared: SharedParts = { ...options, guard, client, metrics, passwords }
    await makeFirstUser(shared)
    stops.push(startDeliverer(shared).close)
    const approver = approverOf(shared)
    const served = new Map<number, ChainServices>()
    const start = async (definition: ChainDefinition) => {
      const chain = await startChain(definition, { ...shared, approver, simulations })
      served.set(definition.chainId, chain.services)
      return chain
    }
    const chains = await startChains(options.chains, start, logger)
    stops.push(chains.close)
    metrics.readWith(() => readGauges({ database, ...chains }))
    if (config.role.includes('bundler')) {
      stops.push(...(await listenForBundlers(options, chains)))
      stops.push(await countEnds(shared, chains))
    }
    stops.push(startRetention({ database, logger, days: retentionOf(config) }).stop)
    const refusals = recorderOf(shared)
    stops.push(refusals.stop)
    const keyUses = createKeyUses(database, logger)
    const usage = createUsageCounter(database, logger)
    stops.push(keyUses.stop, usage.stop)
    const drain = { isDraining: false }
    const behind = {
      countRequest: usage.countRequest,
      recordRefusal: refusals.record,
      keyUsed: keyUses.used,
    }
    const { api, adminApi } = await startApisOf(shared, { ...chains, served }, behind, drain)
    stops.push(api.close, ...(adminApi ? [adminApi.close] : []))
    const close = async (): Promise<void> => {
      drain.isDraining = true
      api.drain()
      adminApi?.drain()
      const resigned = chains.settle().then(() => Promise.all(bundlersOf(chains).map(stopBundler)))
      await Promise.allSettled([delay(config.drainSeconds * 1000), resigned])
      // The API answers what is under way before it closes; dear simulations could take minutes.
      const late = setTimeout(() => void simulations.close(), SIMULATION_GRACE)
      await stopAll(stops).finally(() => clearTimeout(late))
    }
    const adminUrl = adminApi?.url ?? api.url
    return { url: api.url, adminUrl, awayChains: chains.away, close }
  } catch (error) {
    await stopAll(stops).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
}

/** Milliseconds that simulations have to end when the process stops; then they are refused. */
const SIMULATION_GRACE = 5_000

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

/** Makes the operator whom the configuration names, where there is no user yet. */
async function makeFirstUser({ config, database, passwords }: SharedParts): Promise<void> {
  const { adminEmail: email, adminPassword: password } = config
  if (email === undefined && password === undefined) return
  if (email === undefined || password === undefined)
    throw new ConfigError('adminEmail and adminPassword belong together: set both, or neither.')
  try {
    await createFirstUser({ database, passwords }, { email, password })
  } catch (error) {
    if (!(error instanceof PurserError)) throw error
    throw new ConfigError(`The first user cannot be made: ${error.message}.`)
  }
}

/** The https address of the administration; undefined = users sign in on this machine only. */
function adminUrlOf({ adminUrl, publicUrl }: ServerConfig): string | undefined {
  return adminUrl ?? (publicUrl?.startsWith('https:') ? publicUrl : undefined)
}

type SharedParts = ServerOptions & {
  readonly passwords: Passwords
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

/** Lets the ends of operations be counted while this process bundles for their chains. */
async function countEnds(
  { connection, database, logger, metrics }: SharedParts,
  { running }: Chains,
): Promise<() => Promise<void>> {
  const leads = (chainId: number) => running.get(chainId)?.bundler?.leads() ?? false
  const onEnded = countEnd.bind(undefined, metrics)
  return (await watchEnds({ connection, database, logger, leads, onEnded })).close
}

/** Starts the listener of all, or, where the administration has its own, both. */
async function startApisOf(
  shared: SharedParts,
  { served, ...chains }: Chains & { readonly served: Services['chains'] },
  behind: Pick<Services, 'recordRefusal' | 'countRequest' | 'keyUsed'>,
  drain: { readonly isDraining: boolean },
): Promise<{ readonly api: Api; readonly adminApi: Api | undefined }> {
  const { config, database, logger, masterKey, metrics } = shared
  const { adminListen } = config
  const readiness: Services['readiness'] = (asked) => {
    const health = new Map([...chains.running].map(([id, chain]) => [id, chain.health]))
    const { isDraining } = drain
    const { role: roles } = config
    return checkReadiness(
      { database, chains: health, away: chains.away, isDraining, masterKey, roles },
      asked,
    )
  }
  const administration = administrationOf(shared, { ...chains, served }, readiness)
  const { authenticateKey, authenticateToken, isOperator, webhooks } = administration
  const isApi = config.role.includes('api')
  const services: Services = {
    clientVersion: `purser/${buildVersion}`,
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
    ...createQuotas(database),
    ...behind,
    readiness,
  }
  const inner = [
    mountHealth({ readiness, isOperator }),
    mountMetrics(isOperator),
    ...(isApi ? [mountAdmin(administration)] : []),
  ]
  const outer = [
    ...(adminListen ? [mountHealth({ readiness, isOperator: undefined })] : inner),
    ...(isApi ? [dashboardOf(shared, administration)] : []),
  ]
  const both = { logger, limits: limitsOf(config), metrics }
  const { host, port } = config
  const adminApi =
    adminListen && (await startApi({ ...both, ...adminListen, services: undefined, mounts: inner }))
  try {
    return { api: await startApi({ ...both, host, port, services, mounts: outer }), adminApi }
  } catch (error) {
    await adminApi?.close()
    throw error
  }
}

function administrationOf(
  {
    config,
    chains: definitions,
    database,
    masterKey,
    guard,
    client,
    passwords,
    logger,
  }: SharedParts,
  chains: Chains & { readonly served: Services['chains'] },
  readiness: Services['readiness'],
): AdminContext & Authenticator {
  return {
    database,
    ...createAuthenticator(database),
    isOperator: createOperatorCheck(config.operatorToken),
    chainIds: new Set(definitions.map(({ chainId }) => chainId)),
    access: { database, passwords, logger },
    adminUrl: adminUrlOf(config),
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
  { database, masterKey, guard }: SharedParts,
  { authenticateKey, authenticateToken, chainIds }: AdminContext & Authenticator,
) {
  return mountDashboard({
    database,
    authenticateKey,
    authenticateToken,
    chainIds,
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
