import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AdminContext } from '../api/adminContext.js'
import { type ApiLimits, defaultLimits, gateLimits } from '../api/limits.js'
import { mountAdmin } from '../api/mountAdmin.js'
import { mountDashboard } from '../api/mountDashboard.js'
import { mountMetrics } from '../api/mountMetrics.js'
import type { Services } from '../api/services.js'
import { type Api, startApi } from '../api/startApi.js'
import { stopAll } from '../base/stopAll.js'
import { version } from '../base/version.js'
import type { ChainDefinition } from '../chain/definition.js'
import type { Config } from '../config/options.js'
import { ConfigError } from '../errors/configError.js'
import { createMetrics } from '../metrics/createMetrics.js'
import { createOutboundClient } from '../outbound/guardedRequest.js'
import { createNetworkGuard } from '../outbound/networkGuard.js'
import { startRetention } from '../policy/startRetention.js'
import type { Connection, Database } from '../store/database.js'
import { emitCircuitOpened } from '../store/events.js'
import { LEASES_CHANNEL } from '../store/leases.js'
import { listen } from '../store/notifications.js'
import { OPERATIONS_CHANNEL } from '../store/pool/operations.js'
import { poolSizes } from '../store/poolSizes.js'
import { createAuthenticator } from '../tenancy/authenticate.js'
import { createOperatorCheck } from '../tenancy/operatorToken.js'
import { type ApprovalObserver, createApprover } from '../webhook/approve.js'
import { startEventDeliverer } from '../webhook/deliverEvents.js'
import { createWebhooks } from '../webhook/manage.js'
import { createSubscriptions } from '../webhook/subscriptions.js'
import { testWebhook } from '../webhook/testWebhook.js'
import { checkReadiness } from './checkReadiness.js'
import { type RunningChain, startChain } from './startChain.js'

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

/** The settings that concern all chains. */
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
>

export type Service = {
  readonly url: string
  /**
   * Says that it is not ready and gives the bundling to others, goes on serving for `drainSeconds`,
   * then lets running requests end.
   */
  close(): Promise<void>
}

/**
 * The running service: every part made and wired. What is started here is stopped by `close`, also
 * when a later part does not start.
 * @throws ConfigError, ListenError in one sentence
 */
export async function startServer(options: ServerOptions): Promise<Service> {
  const { config, connection, database, masterKey, webhookAllow, logger } = options
  if (config.debugMethods && !isLoopback(config.host))
    throw new ConfigError(
      `--debug-methods lets every caller clear the pool: listen on 127.0.0.1, not on ${config.host}.`,
    )
  const undo: (() => Promise<void>)[] = []
  try {
    const guard = createNetworkGuard(webhookAllow)
    const client = createOutboundClient(guard)
    undo.push(async () => client.close())
    const metrics = createMetrics()
    const observer: ApprovalObserver = {
      called: metrics.webhook,
      circuitOpened: (webhookId) => {
        metrics.circuitOpened()
        logger.warn({ webhookId }, 'a webhook failed so often that it is left alone')
        emitCircuitOpened(database, webhookId).catch((error: Error) =>
          logger.warn({ webhookId, reason: error.message }, 'webhook.circuit_opened not told'),
        )
      },
    }
    const approver = createApprover({ database, masterKey, client, observer })
    const deliverer = startEventDeliverer({
      database,
      masterKey,
      client,
      logger,
      onAttempt: metrics.delivery,
    })
    undo.push(deliverer.close)
    const chains = new Map<number, RunningChain>()
    for (const definition of options.chains) {
      const chain = await startChain(definition, approver, metrics, { ...options, client })
      undo.push(chain.close)
      chains.set(definition.chainId, chain)
    }
    const bundlers = [...chains.values()].flatMap(({ bundler }) => bundler ?? [])
    if (bundlers.length > 0) {
      const announced = (chainId: string) => chains.get(Number(chainId))?.bundler?.wake()
      const givenUp = () => {
        for (const bundler of bundlers) bundler.compete()
      }
      undo.push((await listen(connection, OPERATIONS_CHANNEL, logger, announced)).close)
      undo.push((await listen(connection, LEASES_CHANNEL, logger, givenUp)).close)
    }
    const retention = startRetention({ database, logger, days: config.decisionRetentionDays })
    undo.push(retention.stop)
    const authenticator = createAuthenticator(database)
    const administration: AdminContext = {
      database,
      ...authenticator,
      isOperator: createOperatorCheck(config.operatorToken),
      webhooks: (actor) => createWebhooks({ database, masterKey, guard, actor }),
      subscriptions: (actor) => createSubscriptions({ database, masterKey, guard, actor }),
      testWebhook: (webhook) => testWebhook({ masterKey, client }, webhook),
      depositOf: async (chainId, ...tank) => chains.get(chainId)?.depositOf(...tank),
      tokenBooks: async (appId) =>
        (await Promise.all([...chains.values()].map(({ books }) => books.list(appId)))).flat(),
    }
    let draining = false
    const health = new Map([...chains].map(([id, chain]) => [id, chain.health]))
    const services: Services = {
      clientVersion: `purser/${version}`,
      chains: new Map(
        config.role.includes('api') ? [...chains].map(([id, { services }]) => [id, services]) : [],
      ),
      ...authenticator,
      webhooks: administration.webhooks,
      readiness: () => checkReadiness(database, health, draining),
    }
    metrics.onScrape(() => poolSizes(database))
    const { host, port } = config
    const limits = limitsOf(config)
    const mounts = [
      mountMetrics(administration.isOperator),
      ...(config.role.includes('api')
        ? [
            mountAdmin(administration),
            mountDashboard({
              database,
              ...authenticator,
              chainIds: new Set(chains.keys()),
              webhooks: (actor, database) => createWebhooks({ database, masterKey, guard, actor }),
            }),
          ]
        : []),
    ]
    const api: Api = await startApi({ services, host, port, logger, limits, metrics, mounts })
    undo.push(api.close)
    const close = async (): Promise<void> => {
      draining = true
      api.drain()
      const resigned = bundlers.map((bundler) => bundler.stop())
      await Promise.allSettled([delay(config.drainSeconds * 1000), ...resigned])
      await stopAll(undo)
    }
    return { url: api.url, close }
  } catch (error) {
    await stopAll(undo).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
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
