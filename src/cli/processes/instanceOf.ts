import { type LogLevel, logLevels } from '../../base/vocabulary.js'
import type { Instance } from '../../config/instance.js'
import type { LoadedConfig } from '../../config/loadConfig.js'
import { shownSettings } from '../../config/shownSettings.js'
import type { ServiceLogger } from '../createLogger.js'
import type { SharedLevel } from './sharedLevel.js'

/** This process as the operator sees it, with the log level that its group shares. */
export function instanceOf(
  loaded: LoadedConfig,
  configuration: Pick<Instance, 'reload'> & { current(): LoadedConfig },
  { logger, level: now, setLevel }: ServiceLogger,
  member: { readonly number: number; readonly level: SharedLevel } | undefined,
): Instance {
  const apply = (level: LogLevel): void => {
    const log = () =>
      logger.warn({ logLevel: level }, 'the level of the log was changed by the operator')
    const isQuieter = logLevels.indexOf(level) > logLevels.indexOf(now())
    if (isQuieter) log()
    setLevel(level)
    if (!isQuieter) log()
  }
  member?.level.onChange(apply)
  return {
    startedAt: new Date(),
    process: member?.number ?? null,
    file: loaded.file ?? null,
    get settings() {
      return shownSettings(configuration.current())
    },
    reload: configuration.reload,
    logLevel: {
      get configured() {
        return configuration.current().config.logLevel
      },
      now,
      change(level) {
        apply(level)
        member?.level.publish(level)
      },
    },
  }
}
