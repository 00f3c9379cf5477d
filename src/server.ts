import type { Logger } from 'pino'
import { defaultLimits } from './api/limits.js'
import type { ChainServices, Readiness, Services } from './api/services.js'
import { type Api, startApi } from './api/startApi.js'
import { operationByHash } from './bundling/operationByHash.js'
import { operationReceipt } from './bundling/operationReceipt.js'
import { operationStatus } from './bundling/operationStatus.js'
import { startBundler } from './bundling/startBundler.js'
import type { ChainDefinition } from './chain/definition.js'
import { adviseFees } from './chain/fees.js'
import { type HeadFollower, startHeadFollower } from './chain/headFollower.js'
import { createNodeClient, type NodeClient } from './chain/nodeClient.js'
import { requireChain } from './chain/requireChain.js'
import type { Config } from './config/options.js'
import { createEntryPoint } from './entrypoint/index.js'
import { ConfigError } from './errors/configError.js'
import { estimateOperation } from './gas/estimateOperation.js'
import { noDataGas } from './gas/preVerificationGas.js'
import { createMempool } from './mempool/admit.js'
import { createSponsor } from './paymaster/sponsor.js'
import { defaultTerms } from './paymaster/sponsorshipTerms.js'
import type { Connection, Database } from './store/database.js'
import { isReachable } from './store/isReachable.js'
import { listen } from './store/notifications.js'
import { operationsChannel } from './store/operations.js'
import { createAuthenticator } from './tenancy/authenticate.js'
import { unwind } from './unwind.js'
import { createNodeEngine } from './validation/nodeEngine.js'
import { version } from './version.js'
import { type Approver, createApprover } from './webhook/approve.js'
import { createOutboundClient } from './webhook/guardedRequest.js'
import { createWebhooks } from './webhook/manage.js'
import { createNetworkGuard } from './webhook/networkGuard.js'

export type ServerOptions = {
  readonly config: Pick<Config, 'host' | 'port' | 'minSponsorshipSeconds' | 'maxSponsorshipSeconds'>
  readonly chains: readonly ChainDefinition[]
  readonly connection: Connection
  readonly database: Database
  readonly masterKey: Buffer
  /** Hosts and CIDR ranges in private networks that webhooks may use. */
  readonly webhookAllow: readonly string[]
  readonly logger: Logger
}

export type Server = {
  readonly url: string
  /** Lets running requests and the bundling step under way end; sends nothing new. */
  close(): Promise<void>
}

type RunningChain = {
  readonly services: ChainServices
  /** Operations were announced. */
  readonly wake: () => void
  readonly isReady: () => boolean
  readonly close: () => Promise<void>
}

/** For how many operations a bundle's fixed costs are shared in preVerificationGas. */
const BUNDLE_SIZE = 1
/** A head older than this many poll intervals, and this many milliseconds, is stale. */
const STALE = { polls: 10, milliseconds: 30_000 }

/**
 * The running service: every part made and wired. What is started here is stopped by `close`, also
 * when a later part does not start.
 * @throws ConfigError, ListenError in one sentence
 */
export const startServer = async (options: ServerOptions): Promise<Server> => {
  const { config, connection, database, masterKey, webhookAllow, logger } = options
  const undo: (() => Promise<void>)[] = []
  try {
    const guard = createNetworkGuard(webhookAllow)
    const client = createOutboundClient(guard)
    undo.push(async () => client.close())
    const approver = createApprover({ database, masterKey, client })
    const chains = new Map<number, RunningChain>()
    for (const definition of options.chains) {
      const chain = await startChain(definition, approver, options)
      undo.push(chain.close)
      chains.set(definition.chainId, chain)
    }
    const announcements = await listen(connection, operationsChannel, logger, (chainId) =>
      chains.get(Number(chainId))?.wake(),
    )
    undo.push(announcements.close)

    const readiness = async (): Promise<Readiness> => {
      const checks: Record<string, boolean> = { database: await isReachable(database) }
      for (const [id, chain] of chains) checks[`chain ${id}`] = chain.isReady()
      return { ready: Object.values(checks).every(Boolean), checks }
    }
    const services: Services = {
      clientVersion: `purser/${version}`,
      chains: new Map([...chains].map(([id, { services }]) => [id, services])),
      ...createAuthenticator(database),
      webhooks: createWebhooks({ database, masterKey, guard }),
      readiness,
    }
    const { host, port } = config
    const api: Api = await startApi({ services, host, port, logger, limits: defaultLimits })
    undo.push(api.close)
    return { url: api.url, close: () => unwind(undo) }
  } catch (error) {
    await unwind(undo).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
}

const startChain = async (
  definition: ChainDefinition,
  approver: Approver,
  { config, database, masterKey, logger: parent }: ServerOptions,
): Promise<RunningChain> => {
  const { chainId } = definition
  const logger = parent.child({ chainId })
  const node = createNodeClient({ urls: definition.rpcUrls, logger })
  const heads = await followChain(node, definition, logger).catch(async (cause) => {
    await node.close()
    if (cause instanceof ConfigError) throw cause
    throw new ConfigError(
      `Chain ${chainId} does not answer at ${definition.rpcUrls.map(hostOf).join(', ')}: start its node or correct rpcUrls.`,
      { cause },
    )
  })
  const entryPoints = definition.entryPoints.map((each) =>
    createEntryPoint(each.version, each.address),
  )
  const engine = createNodeEngine({ node })
  const share = { bundleSize: BUNDLE_SIZE, dataGas: noDataGas }
  const fees = () => adviseFees(node, heads.current())
  const estimate: ChainServices['estimate'] = async (entryPoint, draft, override) =>
    estimateOperation(
      { node, engine, definition, advice: await fees(), ...share },
      entryPoint,
      draft,
      override,
    )
  const mempool = createMempool({ definition, database, node, heads, engine, logger, ...share })
  const views = { definition, entryPoints, database, node, heads }
  const sponsor = createSponsor({
    ...{ database, masterKey, node, heads, definition, approver, logger, fees },
    estimate: (entryPoint, draft) => estimate(entryPoint, draft, undefined),
    terms: {
      ...defaultTerms,
      minDuration: config.minSponsorshipSeconds,
      maxDuration: config.maxSponsorshipSeconds,
    },
  })
  const bundler = startBundler({ definition, entryPoints, database, node, logger }, heads)
  const stale = Math.max(STALE.milliseconds, STALE.polls * definition.pollInterval)
  return {
    services: {
      chainId,
      entryPoints: new Map(entryPoints.map((each) => [each.address, each])),
      estimate,
      fees,
      admit: mempool.admit,
      status: (hash) => operationStatus(views, hash),
      receipt: (hash) => operationReceipt(views, hash),
      byHash: (hash) => operationByHash(views, hash),
      sponsor: sponsor.sponsor,
      stub: sponsor.stub,
    },
    wake: bundler.wake,
    isReady: () => heads.age() < stale,
    close: async () => {
      await bundler.stop()
      heads.stop()
      await node.close()
    },
  }
}

const followChain = async (
  node: NodeClient,
  definition: ChainDefinition,
  logger: Logger,
): Promise<HeadFollower> => {
  await requireChain(node, definition)
  return startHeadFollower({ node, definition, logger })
}

/** Of a node's URL only the host is shown: the rest may hold a key. */
const hostOf = (url: string): string => new URL(url).host
