import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { createFirstUser } from '../access/createFirstUser.js'
import { createOidc } from '../access/createOidc.js'
import { createSignInLinks, type OfferedLink } from '../access/createSignInLinks.js'
import { createPasswords } from '../access/passwords.js'
import type { ChainServices } from '../api/services.js'
import { stopAll } from '../base/stopAll.js'
import type { BundlingCandidate } from '../bundling/leadBundling.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { ConfigError } from '../errors/configError.js'
import { PurserError } from '../errors/purserError.js'
import { createMetrics } from '../metrics/createMetrics.js'
import { createOutboundClient } from '../outbound/guardedRequest.js'
import { createNetworkGuard } from '../outbound/networkGuard.js'
import { createFeeds } from '../records/createFeeds.js'
import { createKeyUses } from '../records/createKeyUses.js'
import { createRefusalRecorder, type RefusalRecorder } from '../records/createRefusalRecorder.js'
import { startRetention } from '../records/startRetention.js'
import { emitCircuitOpened } from '../store/events.js'
import { LEASES_CHANNEL } from '../store/leases.js'
import { listen } from '../store/notifications.js'
import { OPERATIONS_CHANNEL } from '../store/pool/operations.js'
import { recordCircuit } from '../store/records/circuits.js'
import type { EndedOperation } from '../store/records/endedOperations.js'
import { createUsageCounter } from '../tenancy/createUsageCounter.js'
import { createSimulations } from '../validation/simulations.js'
import { type Approver, createApprover } from '../webhook/approve.js'
import { startEventDeliverer } from '../webhook/deliverEvents.js'
import { readGauges } from './readGauges.js'
import type { Chains, ServerConfig, ServerOptions, SharedParts } from './serverParts.js'
import { startApis } from './startApis.js'
import { startChain } from './startChain.js'
import { startChains } from './startChains.js'
import { countEnd, watchEnds } from './watchEnds.js'

export type Service = {
  readonly url: string
  /** The listener of the administration: the same one, or one of its own. */
  readonly adminUrl: string
  /** By chain id, the sentence that says why a configured chain is not served yet. */
  readonly awayChains: ReadonlyMap<number, string>
  /** The token of a link that signs a user in, once. */
  offerSignIn(link: OfferedLink): string
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
    const metrics = createMetrics(options.siblings)
    for (const { chainId } of options.chains) metrics.startChain(chainId)
    const workers = config.simulationWorkers ?? Math.max(1, availableParallelism() - 1)
    const simulations = createSimulations({ workers, logger })
    stops.push(simulations.close)
    const passwords = createPasswords()
    const signInLinks = createSignInLinks()
    const oidc = oidcOf(config)
    if (oidc !== undefined) stops.push(async () => oidc.close())
    const own = { guard, client, metrics, passwords, signInLinks, oidc }
    const shared: SharedParts = { ...options, ...own }
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
    const feeds = createFeeds(database, logger)
    stops.push(feeds.stop)
    const parts = { ...chains, served }
    const { api, adminApi } = await startApis(shared, parts, behind, feeds, drain)
    stops.push(api.close, ...(adminApi ? [adminApi.close] : []))
    const close = async (): Promise<void> => {
      drain.isDraining = true
      api.drain()
      adminApi?.drain()
      // Their clients come back to another process.
      const ended = feeds.stop()
      const resigned = chains.settle().then(() => Promise.all(bundlersOf(chains).map(stopBundler)))
      await Promise.allSettled([delay(config.drainSeconds * 1000), resigned, ended])
      await stopAll(stops)
    }
    const adminUrl = adminApi?.url ?? api.url
    const offerSignIn = signInLinks.offer
    return { url: api.url, adminUrl, awayChains: chains.away, offerSignIn, close }
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

function oidcOf({ oidc, oidcClientSecret: clientSecret }: ServerOptions['config']) {
  return oidc && createOidc({ ...oidc, clientSecret })
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
  { connection, database, logger, metrics, traces }: SharedParts,
  { running }: Chains,
): Promise<() => Promise<void>> {
  const leads = (chainId: number) => running.get(chainId)?.bundler?.leads() ?? false
  const onEnded = (chainId: number, operation: EndedOperation): void => {
    countEnd(metrics, chainId, operation)
    traces?.ended(chainId, operation)
  }
  return (await watchEnds({ connection, database, logger, leads, onEnded })).close
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|::1)$/.test(host)
}
