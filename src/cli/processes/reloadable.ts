import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { ConfigError } from '../../base/errors/configError.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { Reloaded } from '../../config/instance.js'
import type { LoadedConfig } from '../../config/loadConfig.js'
import type { OptionName } from '../../config/options.js'
import { resolveChains } from '../../config/resolveChains.js'
import type { Service } from '../../service/startServer.js'
import type { ServiceLogger } from '../createLogger.js'

/** Settings that a reload applies. All others count from the next start on. */
const applied: readonly OptionName[] = ['chains', 'logLevel']

/**
 * The configuration of a running service, which is read again at SIGHUP, or when it is asked to. Reloads follow
 * each other; one that comes before the service runs does nothing, for it starts with what the file says then.
 */
export function createReloadable(
  loaded: LoadedConfig,
  reread: () => LoadedConfig,
  { logger, setLevel }: ServiceLogger,
) {
  let current = loaded
  let running:
    | { server: Pick<Service, 'reload'>; devChain: ChainDefinition | undefined }
    | undefined
  let step: Promise<unknown> = Promise.resolve()

  const apply = async (): Promise<Reloaded> => {
    const none = { started: [], replaced: [], stopped: [], failed: [], replacesProcesses: false }
    if (running === undefined) return { ...none, needRestart: [] }
    const next = reread()
    const { chains, logLevel } = next.config
    // The role of the process stays as it started, and with it the need for executor keys.
    const configured = resolveChains(chains, process.env, current.config.role)
    const { devChain, server } = running
    if (configured.length === 0 && devChain === undefined)
      throw new ConfigError('The configuration has no chain left; stop the service instead.')
    if (logLevel !== current.config.logLevel) setLevel(logLevel)
    const changes = await server.reload([...(devChain ? [devChain] : []), ...configured])
    const needRestart = changedSettings(current, next).filter((name) => !applied.includes(name))
    const { origins } = next
    current = {
      ...current,
      config: { ...current.config, chains, logLevel },
      origins: { ...current.origins, chains: origins.chains, logLevel: origins.logLevel },
    }
    report(logger, { ...changes, needRestart, replacesProcesses: false })
    return { ...changes, needRestart, replacesProcesses: false }
  }
  /** Throws ConfigError; the service then goes on as it was. */
  const reload = (): Promise<Reloaded> => {
    const next = step.then(apply)
    step = next.catch(() => undefined)
    return next
  }
  const onSignal = () => {
    reload().catch((error: Error) =>
      logger.error(
        { reason: error.message },
        'the configuration was not reloaded: the service keeps the old one',
      ),
    )
  }
  process.on('SIGHUP', onSignal)
  return {
    current: () => current,
    reload,
    /** From now on a reload changes this service. */
    serves: (server: Pick<Service, 'reload'>, devChain: ChainDefinition | undefined): void => {
      running = { server, devChain }
    },
    /** Stops reacting to SIGHUP. */
    close: () => process.off('SIGHUP', onSignal),
  }
}

function changedSettings(before: LoadedConfig, after: LoadedConfig): readonly OptionName[] {
  return (Object.keys(after.config) as OptionName[]).filter(
    (name) => !isDeepStrictEqual(before.config[name], after.config[name]),
  )
}

function report(logger: Logger, { failed, needRestart, ...changes }: Reloaded): void {
  const { started, replaced, stopped } = changes
  logger.info({ started, replaced, stopped }, 'the configuration was reloaded')
  for (const { chainId, reason } of failed)
    logger.error({ chainId, reason }, 'a chain is not served with its new configuration')
  if (needRestart.length > 0)
    logger.warn({ settings: needRestart }, 'these settings take effect at the next start')
}
