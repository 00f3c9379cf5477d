import type { Logger } from 'pino'
import { armedFault } from '../base/faults.js'
import { stopAll } from '../base/stopAll.js'
import type { Config } from '../config/options.js'
import { resolveChains } from '../config/resolveChains.js'
import { ConfigError } from '../errors/configError.js'
import { ServiceLockLostError } from '../errors/serviceLockLostError.js'
import { loopback } from '../outbound/networkGuard.js'
import { type Service, startServer } from '../service/startServer.js'
import { holdServiceLock, type ServiceLock } from '../store/postgres/serviceLock.js'
import { boundHeapGrowth } from './boundHeapGrowth.js'
import type { DevChain } from './dev/devChain.js'
import { openStore, type Store } from './openStore.js'

export type RunningService = {
  readonly server: Service
  readonly store: Store
  readonly devChain: DevChain | undefined
  /** Settles when another Purser runs on the database instead: then this one must not go on. */
  readonly lockLost: Promise<void>
  close(): Promise<void>
}

/**
 * Everything that `purser dev` and `purser serve` run, started in order and stopped in reverse, also
 * when a part does not start.
 * @throws ConfigError, ListenError, DevChainError in one sentence
 */
export async function runService(
  config: Config,
  withDevChain: boolean,
  logger: Logger,
): Promise<RunningService> {
  boundHeapGrowth()
  const undo: (() => Promise<void>)[] = []
  if (armedFault) logger.warn({ fault: armedFault }, 'this process will kill itself: PURSER_FAULT')
  try {
    const configured = resolveChains(config.chains, process.env, config.role)
    if (configured.length === 0 && !withDevChain)
      throw new ConfigError(
        'No chain is configured: add "chains" to the configuration file, or ask for --embedded-chain.',
      )
    const store = await openStore(config, logger)
    undo.push(store.close)
    const lock = await holdAlone(config, withDevChain, store, logger)
    if (lock) undo.push(lock.release)
    const devChain = withDevChain ? await openDevChain(config, store, logger) : undefined
    if (devChain) undo.push(devChain.stop)
    const devChainId = devChain?.definition.chainId
    if (configured.some(({ chainId }) => chainId === devChainId))
      throw new ConfigError(`Chain ${devChainId} is configured and the development chain's too.`)
    const server = await startServer({
      config,
      logger,
      ...store,
      alone: lock !== undefined,
      chains: [...(devChain ? [devChain.definition] : []), ...configured],
      webhookAllow: [...config.webhookAllow, ...(devChain ? loopback : [])],
    })
    undo.push(server.close)
    const lockLost = lock?.lost ?? new Promise<void>(() => {})
    return { server, store, devChain, lockLost, close: () => stopAll(undo) }
  } catch (error) {
    await stopAll(undo).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
}

/** Its code and the clients that it needs are loaded only for those who want such a chain. */
async function openDevChain(
  config: Config,
  { database }: Store,
  logger: Logger,
): Promise<DevChain> {
  const { startDevChain } = await import('./dev/devChain.js')
  return startDevChain(config, database, logger)
}

/**
 * An embedded database or chain belongs to one process. Those that share a database server hold
 * leases for what only one may do instead.
 */
async function holdAlone(
  { databaseUrl, data }: Config,
  withDevChain: boolean,
  { connection }: Store,
  logger: Logger,
): Promise<ServiceLock | undefined> {
  if (databaseUrl !== undefined && !withDevChain) return undefined
  const lock = await holdServiceLock(connection, logger)
  if (lock) return lock
  throw new ConfigError(
    databaseUrl === undefined
      ? `Purser already runs on the data folder ${data}: stop it first, use another one, or share a server by --database-url.`
      : 'Purser already runs a development chain on this database: stop it first, or use another one.',
  )
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilAskedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    const hear = (signal: NodeJS.Signals) => {
      if (asked) process.exit(1)
      asked = true
      resolve(signal)
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
  })
}

/**
 * Announces the service, lets it run until `asked` resolves and stops everything.
 * @throws ServiceLockLostError; what `announce` throws
 */
export async function serveUntil(
  asked: Promise<NodeJS.Signals>,
  { lockLost, close }: RunningService,
  logger: Logger,
  announce: () => void | Promise<void>,
): Promise<void> {
  try {
    await announce()
    const lost = lockLost.then(() => {
      throw new ServiceLockLostError()
    })
    const signal = await Promise.race([asked, lost])
    logger.info({ signal }, 'stopping')
  } finally {
    await close()
  }
}
