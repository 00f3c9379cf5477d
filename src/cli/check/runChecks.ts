import type { Logger } from 'pino'
import { ConfigError } from '../../base/errors/configError.js'
import { createOutboundClient, type OutboundClient } from '../../base/outbound/guardedRequest.js'
import { createNetworkGuard } from '../../base/outbound/networkGuard.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { createNodeClient } from '../../chain/nodeClient.js'
import type { Sources } from '../../config/loadConfig.js'
import type { Config } from '../../config/options.js'
import { resolveChains } from '../../config/resolveChains.js'
import type { Database } from '../../db/database.js'
import { type Finding, reasonOf, reporterOf } from './finding.js'
import { checkChain } from './parts/checkChain.js'
import { checkConfiguration } from './parts/checkConfiguration.js'
import { checkDatabase } from './parts/checkDatabase.js'
import { checkKeys } from './parts/checkKeys.js'
import { checkMoney } from './parts/checkMoney.js'
import { checkNodes, NODE_DEADLINE } from './parts/checkNodes.js'
import { checkPrices } from './parts/checkPrices.js'
import { checkProvider } from './parts/checkProvider.js'
import { checkSending } from './parts/checkSending.js'
import { checkWebhooks } from './parts/checkWebhooks.js'

type CheckOptions = {
  readonly sources: Sources
  /** The one chain to look at; absent = all. */
  readonly only?: number | undefined
  readonly logger: Logger
}

/**
 * Looks at everything that a service of this configuration needs, also while one runs. Makes and changes
 * nothing; a part that is in trouble is a finding and keeps no other part from being looked at.
 * @throws ConfigError when `only` is no configured chain
 */
export async function runChecks({
  sources,
  only,
  logger,
}: CheckOptions): Promise<readonly Finding[]> {
  const { config, findings } = checkConfiguration(sources)
  if (config === undefined) return findings
  const chains = config.chains.filter(({ chainId }) => only === undefined || chainId === only)
  if (only !== undefined && chains.length === 0)
    throw new ConfigError(`Chain ${only} is not configured: --chain names one of "chains".`)
  const store = await checkDatabase(config, logger)
  const client = clientOf(config)
  try {
    const checks = await Promise.all([
      checkWebhooks(config, store.database),
      checkProvider(config),
      ...chains.map((chain) =>
        checkOneChain(chain, { config, sources, logger, client, database: store.database }),
      ),
    ])
    return [...findings, ...store.findings, ...checks.flat()]
  } finally {
    client?.close()
    await store.close()
  }
}

/** undefined where `webhookAllow` is wrong, which the check of webhooks reports. */
function clientOf({ webhookAllow }: Config): OutboundClient | undefined {
  try {
    return createOutboundClient(createNetworkGuard(webhookAllow))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

type Parts = Pick<CheckOptions, 'sources' | 'logger'> & {
  readonly config: Config
  readonly client: OutboundClient | undefined
  readonly database: Database | undefined
}

async function checkOneChain(
  chain: Config['chains'][number],
  { config, sources, logger, client, database }: Parts,
): Promise<readonly Finding[]> {
  const [definition] = resolveChains([chain], sources.environment, ['api'])
  if (definition === undefined) throw new Error('one chain is resolved to one')
  const [keys, nodes] = await Promise.all([
    checkKeys(chain, sources.environment, config.role),
    checkNodes(definition, logger),
  ])
  const sending = await checkSending({ ...definition, sending: keys.sending }, keys, {
    urls: nodes.usable,
    logger,
  })
  const known = [...keys.findings, ...nodes.findings, ...sending]
  if (nodes.usable.length === 0) return known
  const node = createNodeClient({ urls: nodes.usable, logger, deadline: NODE_DEADLINE })
  try {
    const { findings, entryPoints } = await checkChain(node, definition)
    const found: ChainDefinition = { ...definition, entryPoints, treasury: keys.refill }
    const [money, prices] = await Promise.all([
      checkMoney(node, found, keys, database),
      client ? checkPrices(node, found, client) : [],
    ])
    return [...known, ...findings, ...money, ...prices]
  } catch (error) {
    const report = reporterOf('nodes', chain.chainId)
    const text = `the nodes did not answer: ${reasonOf(error)}`
    return [...known, report.fault(text, 'look at their logs, and check again')]
  } finally {
    await node.close()
  }
}
