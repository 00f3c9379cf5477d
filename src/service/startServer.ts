import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import { PurserError } from '../base/errors/purserError.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import { createOutboundClient } from '../base/outbound/guardedRequest.js'
import { createNetworkGuard } from '../base/outbound/networkGuard.js'
import { stopAll } from '../base/stopAll.js'
import type { BundlingCandidate } from '../bundler/leadBundling.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { requireAgreement } from '../config/requireAgreement.js'
import { ENDED_CHANNEL, emitCircuitOpened } from '../db/events.js'
import { LEASES_CHANNEL } from '../db/leases.js'
import { listen } from '../db/notifications.js'
import { OPERATIONS_CHANNEL } from '../mempool/pool/operations.js'
import { recordCircuit } from '../records/circuits.js'
import { createFeeds } from '../records/createFeeds.js'
import { createKeyUses } from '../records/createKeyUses.js'
import { type EndedOperation, readEnded } from '../records/endedOperations.js'
import { createRefusalRecorder } from '../records/refusals.js'
import { startRetention } from '../records/startRetention.js'
import { createSimulations } from '../simulation/simulations.js'
import { createMetrics } from '../telemetry/createMetrics.js'
import { createOidc } from '../tenants/people/createOidc.js'
import { createSignInLinks, type OfferedLink } from '../tenants/people/createSignInLinks.js'
import { createPasswords } from '../tenants/people/passwords.js'
import { createFirstUser } from '../tenants/people/users.js'
import { createUsageCounter } from '../tenants/usage.js'
import { type Approver, createApprover } from '../webhooks/approve.js'
import { startEventDeliverer } from '../webhooks/deliverEvents.js'
import { readGauges } from './readGauges.js'
import { type Chains, processesOf, type ServerOptions, type SharedParts } from './serverParts.js'
import { startApis } from './startApis.js'
import { type RunningChain, startChain } from './startChain.js'
import { type ChainChanges, startChains } from './startChains.js'

export type Service = {
  readonly url: string
  /** The listener of the administration: the same one, or one of its own. */
  readonly adminUrl: string
  /** By chain id, the sentence that says why a configured chain is not served yet. */
  readonly awayChains: ReadonlyMap<number, string>
  /** Serves these chains from now on, see `ServedChains`. */
  reload(definitions: readonly ChainDefinition[]): Promise<ChainChanges>
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
  const { config, database, adminDatabase, webhookAllow, logger } = options
  requireAgreement(config)
  const stops: (() => Promise<void>)[] = []
  try {
    const guard = createNetworkGuard(webhookAllow)
    const client = createOutboundClient(guard)
    stops.push(async () => client.close())
    const metrics = createMetrics(options.siblings)
    const workers = Math.max(1, Math.floor((availableParallelism() - 1) / processesOf(options)))
    const simulations = createSimulations({ workers, logger })
    stops.push(simulations.close)
    const passwords = createPasswords()
    const signInLinks = createSignInLinks()
    const { oidcClientSecret: clientSecret } = config
    const oidc = config.oidc && createOidc({ ...config.oidc, clientSecret })
    if (oidc !== undefined) stops.push(async () => oidc.close())
    const own = { guard, client, metrics, passwords, signInLinks, oidc }
    const shared: SharedParts = { ...options, ...own }
    await makeFirstUser(shared)
    stops.push(startEventDeliverer(shared).close)
    const approver = approverOf(shared)
    const counted = new Set<number>()
    let isStarted = false
    const start = (definition: ChainDefinition) => {
      if (!counted.has(definition.chainId)) metrics.startChain(definition.chainId)
      counted.add(definition.chainId)
      // Of a chain that is reloaded, the one before holds the lease until it ends.
      const alone = options.alone && !isStarted
      return startChain(definition, { ...shared, approver, simulations, alone })
    }
    const chains = await startChains(options.chains, start, logger)
    isStarted = true
    stops.push(chains.close)
    metrics.readWith(() => readGauges({ database, ...chains }))
    if (config.role.includes('bundler')) stops.push(...(await listenForBundlers(options, chains)))
    stops.push(await hearEnds(shared, chains))
    stops.push(startRetention({ database: adminDatabase, logger, days: config.retentionDays }).stop)
    const refusals = createRefusalRecorder({ database, logger, metrics })
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
    const { api, adminApi } = await startApis(shared, chains, behind, feeds, drain)
    stops.push(api.close, ...(adminApi ? [adminApi.close] : []))
    const close = async (): Promise<void> => {
      drain.isDraining = true
      api.drain()
      adminApi?.drain()
      // Their clients come back to another process.
      const ended = feeds.stop()
      for (const { news } of chains.running.values()) news.stop()
      const resigned = chains
        .settle()
        .then(() => Promise.all(bundlersOf(chains).map((each) => each.stop())))
      await Promise.allSettled([delay(config.drainSeconds * 1000), resigned, ended])
      await stopAll(stops)
    }
    const adminUrl = adminApi?.url ?? api.url
    const offerSignIn = signInLinks.offer
    const { away: awayChains, reload } = chains
    return { url: api.url, adminUrl, awayChains, reload, offerSignIn, close }
  } catch (error) {
    await stopAll(stops).catch((err) =>
      logger.error({ err }, 'the process did not stop completely'),
    )
    throw error
  }
}

/** Makes the operator whom the configuration names, where there is no user yet. */
async function makeFirstUser({ config, database, passwords }: SharedParts): Promise<void> {
  const { adminEmail: email, adminPassword: password } = config
  if (email === undefined || password === undefined) return
  try {
    await createFirstUser({ database, passwords }, { email, password })
  } catch (error) {
    if (!(error instanceof PurserError)) throw error
    throw new ConfigError(`The first user cannot be created: ${error.message}.`)
  }
}

function bundlersOf({ running }: Chains): BundlingCandidate[] {
  return [...running.values()].flatMap(({ bundler }) => bundler ?? [])
}

function approverOf({ database, masterKey, client, metrics, logger }: SharedParts): Approver {
  const recordChange = (webhookId: string, state: 'open' | 'closed'): void => {
    recordCircuit(database, webhookId, state).catch((error: Error) =>
      logger.warn(
        { webhookId, reason: error.message },
        "the circuit breaker's change was not recorded",
      ),
    )
  }
  return createApprover({
    database,
    masterKey,
    client,
    metrics,
    onCircuitOpened: (webhookId) => {
      logger.warn({ webhookId }, 'a webhook keeps failing: its circuit breaker opened')
      emitCircuitOpened(database, webhookId).catch((error: Error) =>
        logger.warn({ webhookId, reason: error.message }, 'webhook.circuit_opened not sent'),
      )
      recordChange(webhookId, 'open')
    },
    onCircuitClosed: (webhookId) => recordChange(webhookId, 'closed'),
  })
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

/**
 * Passes on that operations were included or dropped, whichever process or command did it, to those who wait for them,
 * and counts each once: in the process that bundles for their chain. Announcements are lost while the connection is:
 * what ends then is settled as ever, and not counted.
 */
async function hearEnds(
  { connection, database, logger, metrics, traces }: SharedParts,
  { running }: Chains,
): Promise<() => Promise<void>> {
  let reading: Promise<void> = Promise.resolve()
  const read = async (chainId: number, hashes: readonly Hex[]): Promise<void> => {
    try {
      for (const operation of await readEnded(database, chainId, hashes)) {
        countEnd(metrics.ofChain(chainId), operation, running.get(chainId)?.seenAt)
        traces?.ended(chainId, operation)
        const hasLeft = operation.outcome === 'dropped' || operation.outcome === 'replaced'
        if (hasLeft) running.get(chainId)?.services.witnesses.ended(operation.hash)
      }
    } catch (error) {
      const { message } = error as Error
      logger.warn({ chainId, ops: hashes, reason: message }, 'ended operations are not counted')
    }
  }
  const listener = await listen(connection, ENDED_CHANNEL, logger, (message) => {
    const [chain = '', ...hashes] = message.split(' ')
    const chainId = Number(chain)
    running.get(chainId)?.news.ended(hashes as Hex[])
    const isLeading = running.get(chainId)?.bundler?.leads() ?? false
    // One at a time: a burst of announcements must not take the connections from requests.
    if (isLeading) reading = reading.then(() => read(chainId, hashes as Hex[]))
  })
  return async () => {
    await listener.close()
    await reading
  }
}

/** Counts the end of an operation, and what it cost its sponsor. */
function countEnd(
  metrics: ChainMetrics,
  operation: EndedOperation,
  seenAt: RunningChain['seenAt'] | undefined,
): void {
  const { outcome, receivedAt, endedAt, mode, cost } = operation
  metrics.count('purser_operations_total', { outcome })
  if (outcome !== 'included' && outcome !== 'failed') return
  const seconds = (endedAt.getTime() - receivedAt.getTime()) / 1_000
  metrics.observe('purser_operation_inclusion_seconds', {}, seconds)
  countStages(metrics, operation, seenAt)
  if (mode !== null && cost !== null)
    metrics.count('purser_spend_wei_total', { mode }, Number(cost))
}

/** The stages of an operation that a bundle of ours included. Clocks of two machines may differ: none is below 0. */
function countStages(
  metrics: ChainMetrics,
  { receivedAt, bundledAt, sentAt, endedAt, blockNumber }: EndedOperation,
  seenAt: RunningChain['seenAt'] | undefined,
): void {
  if (bundledAt === null || sentAt === null || blockNumber === null) return
  const seen = seenAt?.(blockNumber)
  const times = [receivedAt.getTime(), bundledAt.getTime(), sentAt.getTime(), seen]
  const names = ['bundle', 'broadcast', 'seen', 'receipt'] as const
  for (const [at, stage] of names.entries()) {
    const [begin, end] = [times[at], [...times, endedAt.getTime()][at + 1]]
    if (begin === undefined || end === undefined) continue
    const seconds = Math.max(0, end - begin) / 1_000
    metrics.observe('purser_operation_stage_seconds', { stage }, seconds)
  }
}
