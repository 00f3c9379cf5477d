import type { AdminContext } from '../api/adminContext.js'
import { type ApiLimits, defaultLimits, gateLimits } from '../api/limits.js'
import { mountAdmin } from '../api/mountAdmin.js'
import { mountConsole } from '../api/mountConsole.js'
import { mountDashboard } from '../api/mountDashboard.js'
import { mountHealth } from '../api/mountHealth.js'
import { mountMetrics } from '../api/mountMetrics.js'
import { mountOidc } from '../api/mountOidc.js'
import type { Services } from '../api/services.js'
import { type Api, startApi } from '../api/startApi.js'
import { buildVersion } from '../base/version.js'
import { ChainNotStartedError, NoApiRoleError } from '../errors/requestErrors.js'
import type { Feeds } from '../records/createFeeds.js'
import { createOverviews } from '../records/createOverviews.js'
import { findSponsor } from '../store/tenants/apps.js'
import { type Authenticator, createAuthenticator } from '../tenancy/authenticate.js'
import { createQuotas } from '../tenancy/createQuotas.js'
import { createOperatorCheck } from '../tenancy/operatorToken.js'
import { createWebhookTests } from '../webhook/createWebhookTests.js'
import { createWebhooks } from '../webhook/manage.js'
import { createSubscriptions } from '../webhook/subscriptions.js'
import { checkReadiness } from './checkReadiness.js'
import type { Chains, ServerConfig, SharedParts } from './serverParts.js'

/** Starts the listener of all, or, where the administration has its own, both. */
export async function startApis(
  shared: SharedParts,
  { served, ...chains }: Chains & { readonly served: Services['chains'] },
  behind: Pick<Services, 'recordRefusal' | 'countRequest' | 'keyUsed'>,
  feeds: Feeds,
  drain: { readonly isDraining: boolean },
): Promise<{ readonly api: Api; readonly adminApi: Api | undefined }> {
  const { config, database, logger, masterKey, metrics, oidc, traces } = shared
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
  const administration = administrationOf(shared, { ...chains, served }, readiness, feeds)
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
  // The listener of apps, whose port is known once it listens.
  const open: { api?: Api } = {}
  const inner = [
    mountHealth({ readiness, isOperator }),
    mountMetrics(isOperator),
    ...(isApi
      ? [
          mountAdmin(administration),
          ...(oidc ? [mountOidc(oidc, administration)] : []),
          mountConsole({
            adminUrl: administration.adminUrl,
            serviceUrl: () => config.publicUrl ?? (adminListen && open.api?.url),
            providerName: oidc?.name,
          }),
        ]
      : []),
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
    open.api = await startApi({
      ...both,
      host,
      port,
      services,
      underCaller: traces?.underCaller,
      mounts: outer,
    })
    return { api: open.api, adminApi }
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
    signInLinks,
    instance,
    logger,
  }: SharedParts,
  chains: Chains & { readonly served: Services['chains'] },
  readiness: Services['readiness'],
  feeds: Feeds,
): AdminContext & Authenticator {
  return {
    database,
    instance,
    ...createAuthenticator(database),
    isOperator: createOperatorCheck(config.operatorToken),
    chainIds: new Set(definitions.map(({ chainId }) => chainId)),
    access: { database, passwords, logger },
    signInLinks,
    adminUrl: adminUrlOf(config),
    webhooks: (actor) => createWebhooks({ database, masterKey, guard, actor }),
    subscriptions: (actor) => createSubscriptions({ database, masterKey, guard, actor }),
    testWebhook: createWebhookTests({ masterKey, client }),
    levelOf: async (tank) => chains.running.get(Number(tank.chain_id))?.levelOf(tank),
    registerTank: async (trx, chainId, tank) =>
      chains.running.get(chainId)?.registerTank(trx, tank),
    stepsOf: async (tank) => chains.running.get(Number(tank.chain_id))?.stepsOf(tank),
    chains: chains.served,
    readiness,
    nodesOf: (chainId) => chains.running.get(chainId)?.nodes(),
    overview: createOverviews(database),
    feeds,
    tokenBooks: async (appId) => {
      // Without a chain the books would look complete and not be it.
      for (const chainId of chains.away.keys()) throw new ChainNotStartedError(chainId)
      const books = [...chains.running.values()].map((chain) => chain.booksOf(appId))
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

/** The https address of the administration; undefined = users sign in on this machine only. */
function adminUrlOf({ adminUrl, publicUrl }: ServerConfig): string | undefined {
  return adminUrl ?? (publicUrl?.startsWith('https:') ? publicUrl : undefined)
}
