import type { Logger } from 'pino'
import { requireFreePort } from '../api/startApi.js'
import { ConfigError } from '../base/errors/configError.js'
import { ServiceLockLostError } from '../base/errors/processErrors.js'
import { armedFault } from '../base/faults.js'
import { loopback } from '../base/outbound/networkGuard.js'
import { stopAll } from '../base/stopAll.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Instance, Reloaded } from '../config/instance.js'
import type { LoadedConfig } from '../config/loadConfig.js'
import type { Config } from '../config/options.js'
import { resolveChains } from '../config/resolveChains.js'
import { holdServiceLock, type ServiceLock } from '../db/embedded/serviceLock.js'
import { type Service, startServer } from '../service/startServer.js'
import type { Siblings } from '../telemetry/createMetrics.js'
import { openTraces } from '../telemetry/traces/openTraces.js'
import { tryMasterKey } from '../tenants/masterKey.js'
import { awaitDatabase } from './awaitDatabase.js'
import { boundHeapGrowth } from './boundHeapGrowth.js'
import { createServiceLogger, type ServiceLogger } from './createLogger.js'
import type { DevChain } from './dev/devChain.js'
import { openStore, type Store } from './openStore.js'
import { instanceOf } from './processes/instanceOf.js'
import { createReloadable } from './processes/reloadable.js'
import type { SharedLevel } from './processes/sharedLevel.js'

/** The most lost secrets that the log names at a start; `purser keys check` names all. */
const MOST_LOST_NAMED = 20

export type RunningService = {
  readonly server: Service
  readonly store: Store
  readonly devChain: DevChain | undefined
  /** Settles when another Purser has taken the database over: then this one must stop. */
  readonly lockLost: Promise<void>
  close(): Promise<void>
}

/**
 * The configured chains with their keys.
 * @throws ConfigError when a key is missing, or nothing is to be served
 */
function requireChains(config: Config, withDevChain: boolean): readonly ChainDefinition[] {
  const configured = resolveChains(config.chains, process.env, config.role)
  if (configured.length === 0 && !withDevChain)
    throw new ConfigError(
      'No chain is configured: add "chains" to the configuration file, or ask for --embedded-chain.',
    )
  return configured
}

/**
 * Everything that `purser dev` and `purser serve` run, started in order and stopped in reverse, also
 * when a part does not start.
 * @throws ConfigError, ListenError, DevChainError in one sentence
 */
async function startService(
  config: Config,
  configured: readonly ChainDefinition[],
  withDevChain: boolean,
  logger: Logger,
  instance: Instance,
  siblings: Siblings | undefined,
): Promise<RunningService> {
  boundHeapGrowth()
  const undo: (() => Promise<void>)[] = []
  if (armedFault) logger.warn({ fault: armedFault }, 'this process will kill itself: PURSER_FAULT')
  try {
    await requireFreePort(config.host, config.port)
    if (config.adminListen) await requireFreePort(config.adminListen.host, config.adminListen.port)
    const traces = await openTraces(process.env, logger)
    if (traces) undo.push(traces.close)
    const store = await openStore(config, logger)
    undo.push(store.close)
    await nameLostSecrets(store, logger)
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
      siblings,
      instance,
      traces,
    })
    undo.push(server.close)
    const lockLost = lock?.lost ?? new Promise<void>(() => {})
    return { server, store, devChain, lockLost, close: () => stopAll(undo) }
  } catch (error) {
    await stopAll(undo).catch((err) => logger.error({ err }, 'the process did not stop completely'))
    throw error
  }
}

/** Names in the log what the master key does not decrypt: a tank that cannot sign sponsors nothing. */
async function nameLostSecrets({ database, masterKey }: Store, logger: Logger): Promise<void> {
  const { lost } = await tryMasterKey(database, masterKey)
  for (const { kind, id, detail } of lost.slice(0, MOST_LOST_NAMED))
    logger.warn(
      { [kind]: detail.address ?? id },
      'the master key does not decrypt a secret: see purser keys check',
    )
}

/** The code of the development chain and its clients are loaded only when there is one. */
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

/** Milliseconds between looks at whether npm still runs. */
const PARENT_LOOK = 500

/**
 * Calls `end` when npm, which started us, is gone: it does not pass every signal on, and who ends `npm start`
 * means the service. Any other parent may end: a service that was started in a terminal outlives it.
 */
function onEndOfNpm(end: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const { ppid } = process
  const look = setInterval(() => {
    if (process.ppid === ppid) return
    clearInterval(look)
    end()
  }, PARENT_LOOK)
  look.unref()
}

/** Lets SIGUSR2 change the level of the log to `debug` and back; the returned function ends that. */
function toggleOnSignal({ logger, toggle }: ServiceLogger): () => void {
  const onSignal = () => {
    const logLevel = toggle()
    logger.warn({ logLevel }, 'the level of the log was changed by SIGUSR2')
  }
  process.on('SIGUSR2', onSignal)
  return () => process.off('SIGUSR2', onSignal)
}

/** Resolves at the first of these signals, or when npm ends; a second signal ends the process at once. */
export function untilAskedToStop(
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve(signal)
    }
    for (const signal of signals) process.on(signal, onSignal)
    onEndOfNpm(() => onSignal('SIGTERM'))
  })
}

type ServeParts = {
  /** What a process of a group shares with the others. */
  readonly member?: { readonly siblings: Siblings; readonly level: SharedLevel }
  /** How a line of the log is written; absent = as JSON. */
  readonly writeLine?: (line: string) => string
  /** Reads the configuration again, for SIGHUP; without it that signal stops the service, or is the parent's affair. */
  readonly reread?: () => LoadedConfig
}

/**
 * Runs the service, announces it, lets it run until the process is asked to stop, also while it
 * starts, and stops everything.
 * @throws ServiceLockLostError; the errors of `startService` and of `announce`
 */
export async function serve(
  loaded: LoadedConfig,
  withDevChain: boolean,
  announce: (service: RunningService) => void | Promise<void>,
  { member, reread, writeLine }: ServeParts = {},
): Promise<void> {
  const { config } = loaded
  const serviceLogger = createServiceLogger(config.logLevel, writeLine)
  const { logger } = serviceLogger
  const keepLevel = toggleOnSignal(serviceLogger)
  // In a group a terminal's interrupt is for the parent.
  const stopSignal = untilAskedToStop(signalsOf(member !== undefined, reread !== undefined))
  const reloadable = reread && createReloadable(loaded, reread, serviceLogger)
  // A mistake in the configuration is reported before anything is waited for.
  const configured = requireChains(config, withDevChain)
  if (!(await awaitDatabase(config, logger, stopSignal))) return keepLevel()
  const configuration = {
    current: reloadable?.current ?? (() => loaded),
    reload: member ? replaceProcesses : reloadable?.reload,
  }
  const service = await startService(
    config,
    configured,
    withDevChain,
    logger,
    instanceOf(
      loaded,
      configuration,
      serviceLogger,
      member && { number: member.siblings.number, level: member.level },
    ),
    member?.siblings,
  )
  reloadable?.serves(service.server, service.devChain?.definition)
  try {
    await announce(service)
    const lockLost = service.lockLost.then(() => {
      throw new ServiceLockLostError()
    })
    const signal = await Promise.race([stopSignal, lockLost])
    logger.info({ signal }, 'stopping')
  } finally {
    reloadable?.close()
    await service.close()
    keepLevel()
  }
}

/** A development service ends with its terminal; the parent of a group stops and replaces its processes. */
function signalsOf(isMember: boolean, isReloadable: boolean): readonly NodeJS.Signals[] {
  if (isMember) return ['SIGTERM']
  return isReloadable ? ['SIGTERM', 'SIGINT'] : ['SIGTERM', 'SIGINT', 'SIGHUP']
}

/** The parent of a group replaces all processes, each of which reads the configuration. */
async function replaceProcesses(): Promise<Reloaded> {
  process.kill(process.ppid, 'SIGHUP')
  return {
    started: [],
    replaced: [],
    stopped: [],
    failed: [],
    needRestart: [],
    replacesProcesses: true,
  }
}
