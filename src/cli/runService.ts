import type { Logger } from 'pino'
import type { Config } from '../config/options.js'
import { resolveChains } from '../config/resolveChains.js'
import { ConfigError } from '../errors/configError.js'
import { ServiceLockLostError } from '../errors/serviceLockLostError.js'
import { armedFault } from '../faults.js'
import { type Server, startServer } from '../server.js'
import { holdServiceLock } from '../store/serviceLock.js'
import { unwind } from '../unwind.js'
import { loopback } from '../webhook/networkGuard.js'
import { type DevChain, startDevChain } from './devChain.js'
import { openStore, type Store } from './openStore.js'

export type RunningService = {
  readonly server: Server
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
export const runService = async (
  config: Config,
  withDevChain: boolean,
  logger: Logger,
): Promise<RunningService> => {
  const undo: (() => Promise<void>)[] = []
  if (armedFault) logger.warn({ fault: armedFault }, 'this process will kill itself: PURSER_FAULT')
  try {
    const configured = resolveChains(config.chains, process.env)
    if (configured.length === 0 && !withDevChain)
      throw new ConfigError(
        'No chain is configured: add "chains" to the configuration file, or ask for --embedded-chain.',
      )
    const store = await openStore(config, logger)
    undo.push(store.close)
    const where = config.databaseUrl ? 'this database' : `the data folder ${config.data}`
    const lock = await holdServiceLock(store.connection, logger)
    if (lock === undefined)
      throw new ConfigError(`Purser already runs on ${where}: stop it first, or use another one.`)
    undo.push(lock.release)
    const devChain = withDevChain ? await startDevChain(config, logger) : undefined
    if (devChain) undo.push(devChain.stop)
    const devChainId = devChain?.definition.chainId
    if (configured.some(({ chainId }) => chainId === devChainId))
      throw new ConfigError(`Chain ${devChainId} is configured and the development chain's too.`)
    const server = await startServer({
      ...{ config, logger, ...store },
      chains: [...(devChain ? [devChain.definition] : []), ...configured],
      webhookAllow: [...config.webhookAllow, ...(devChain ? loopback : [])],
    })
    undo.push(server.close)
    return { server, store, devChain, lockLost: lock.lost, close: () => unwind(undo) }
  } catch (error) {
    await unwind(undo).catch((err) => logger.error({ err }, 'not all of it was stopped'))
    throw error
  }
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export const untilAskedToStop = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let asked = false
    const hear = (signal: NodeJS.Signals) => {
      if (asked) process.exit(1)
      asked = true
      resolve(signal)
    }
    process.on('SIGTERM', hear)
    process.on('SIGINT', hear)
  })

/**
 * Announces the service, lets it run until `asked` resolves and stops everything.
 * @throws ServiceLockLostError; what `announce` throws
 */
export const serveUntil = async (
  asked: Promise<NodeJS.Signals>,
  { lockLost, close }: RunningService,
  logger: Logger,
  announce: () => void | Promise<void>,
): Promise<void> => {
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
