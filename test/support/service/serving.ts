import { join } from 'node:path'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { type PublicChain, startPublicChain } from '../chain/publicChain.js'
import { silent } from '../logger.js'
import { commandsOn } from './cliAnswers.js'
import { tenantInfo } from './clientView.js'
import { createTenant } from './createTenant.js'
import { servedChain } from './servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from './startPurser.js'

/** `purser serve` as one process on a database that outlives it and a chain of its own. */
export type Serving = {
  /** Holds the database's cluster, so that `withBooks` reaches it. */
  readonly folder: string
  readonly chain: PublicChain
  readonly commands: ReturnType<typeof commandsOn>
  readonly tenant: { readonly apiKey: string; readonly authToken: string }
  /** What service and commands read. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends what runs and starts anew. */
  start(environment?: Readonly<Record<string, string>>): Promise<RunningService>
  /** The chain and a tenant, its own by default, as a client sees them. */
  info(as?: Serving['tenant']): DevInfo
  stop(): Promise<void>
}

/** What `purser serve` reads to serve `chain` from the cluster in `folder`, its keys in `secrets`. */
export function serveEnvironment<Secrets extends Readonly<Record<string, string>>>(
  folder: string,
  chain: Readonly<Record<string, unknown>>,
  secrets: Secrets,
) {
  const host = encodeURIComponent(join(folder, 'postgres/cluster'))
  return {
    DATABASE_URL: `postgresql:///postgres?host=${host}&user=purser`,
    PURSER_MASTER_KEY: '5e'.repeat(32),
    PURSER_CHAINS: JSON.stringify([chain]),
    ...secrets,
  }
}

/** @param settings of the chain in the configuration, in addition to or instead of its node and executor */
export async function prepareServing(
  chainId: number,
  settings: (chain: PublicChain) => Promise<Readonly<Record<string, unknown>>>,
  secrets: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const folder = makeDataFolder()
  const chain = await startPublicChain(chainId)
  const postgres = await startEmbeddedPostgres(folder, silent)
  const environment = serveEnvironment(folder, servedChain(chain, await settings(chain)), {
    EXECUTOR: devKey(1),
    ...secrets,
  })
  const commands = commandsOn(folder, environment)
  const tenant = await createTenant(folder, 'serving')
  let service: RunningService | undefined
  return {
    folder,
    chain,
    commands,
    tenant,
    environment,
    async start(more = {}) {
      await service?.end('SIGKILL')
      const flags = ['--data', folder, '--port', '0', '--drain-seconds', '0.3']
      service = await startService(['serve', ...flags], { ...environment, ...more })
      return service
    },
    info(as = tenant) {
      if (!service) throw new Error('nothing was started')
      return tenantInfo(chain, urlOf(service), as)
    },
    async stop() {
      await service?.end('SIGKILL')
      await postgres.stop()
      await chain.stop()
      removeDataFolder(folder)
    },
  }
}
