import type { AdminContext } from '../api/adminContext.js'
import { mountAdmin } from '../api/mountAdmin.js'
import { mountConsole } from '../api/mountConsole.js'
import { mountHealth, mountMetrics } from '../api/mountHealth.js'
import { mountOidc } from '../api/mountOidc.js'
import { limitsOf } from '../api/routeContext.js'
import type { Services } from '../api/services.js'
import { type Api, startApi } from '../api/startApi.js'
import { ChainNotStartedError, NoApiRoleError } from '../base/errors/requestErrors.js'
import { buildVersion } from '../base/version.js'
import { adminUrlOf } from '../config/adminUrlOf.js'
import type { Feeds } from '../records/createFeeds.js'
import { createOverviews } from '../records/overview.js'
import { createStatementSigner } from '../records/statements/statement.js'
import { findSponsor } from '../tenants/apps.js'
import { type Authenticator, createAuthenticator } from '../tenants/authenticate.js'
import { createOperatorCheck } from '../tenants/credential.js'
import { createQuotas } from '../tenants/quotas.js'
import { createWebhooks } from '../webhooks/manage.js'
import { createSubscriptions } from '../webhooks/subscriptions.js'
import { createWebhookTests } from '../webhooks/testWebhook.js'
import { checkReadiness } from './checkReadiness.js'
import { type Chains, processesOf, type SharedParts } from './serverParts.js'

/** Starts the listener of all, or, where the administration has its own, both. */
export async function startApis(
  shared: SharedParts,
  chains: Chains,
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
  const administration = administrationOf(shared, chains, readiness, feeds)
  const { authenticateKey, authenticateToken, isOperator, webhooks } = administration
  const isApi = config.role.includes('api')
  const services: Services = {
    clientVersion: `purser/${buildVersion}`,
    chains: chains.served,
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
          ...(oidc ? [mountOidc(oidc, administration, masterKey)] : []),
          mountConsole({
            adminUrl: administration.adminUrl,
            serviceUrl: () => config.publicUrl ?? (adminListen && open.api?.url),
            providerName: oidc?.name,
          }),
        ]
      : []),
  ]
  const outer = adminListen ? [mountHealth({ readiness, isOperator: undefined })] : inner
  const both = { logger, limits: limitsOf(config, processesOf(shared)), metrics }
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
    adminDatabase: database,
    masterKey,
    guard,
    client,
    passwords,
    signInLinks,
    instance,
    logger,
  }: SharedParts,
  chains: Chains,
  readiness: Services['readiness'],
  feeds: Feeds,
): AdminContext & Authenticator {
  return {
    database,
    instance,
    ...createAuthenticator(database),
    isOperator: createOperatorCheck(config.operatorToken),
    chainIds: () => new Set([...chains.running.keys(), ...chains.away.keys()]),
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
    rehearse: async (chainId, question) => chains.running.get(chainId)?.rehearse(question),
    overview: createOverviews(database),
    feeds,
    signStatement: createStatementSigner(masterKey),
    keptSince: () => {
      const { retentionDays, maxSponsorshipSeconds } = config
      // A sponsorship is recorded before its operation is included.
      const kept = retentionDays * 86_400 - maxSponsorshipSeconds
      return new Date(Date.now() - Math.max(0, kept) * 1_000)
    },
    tokenBooks: async (appId) => {
      // Without a chain the books would look complete and not be it.
      for (const chainId of chains.away.keys()) throw new ChainNotStartedError(chainId)
      const books = [...chains.running.values()].map((chain) => chain.booksOf(appId))
      return (await Promise.all(books)).flat()
    },
  }
}
