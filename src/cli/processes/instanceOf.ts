import { type LogLevel, logLevels } from '../../base/vocabulary.js'
import type { Instance } from '../../config/instance.js'
import type { LoadedConfig } from '../../config/loadConfig.js'
import { shownSettings } from '../../config/shownSettings.js'
import type { ServiceLogger } from '../createLogger.js'
import type { SharedLevel } from './sharedLevel.js'

/** This process as the operator sees it, with the level of its log and of those beside it. */
export function instanceOf(
  loaded: LoadedConfig,
  { logger, level: now, setLevel }: ServiceLogger,
  beside: { readonly number: number; readonly level: SharedLevel } | undefined,
): Instance {
  const apply = (level: LogLevel): void => {
    const tell = () =>
      logger.warn({ logLevel: level }, 'the level of the log was changed by the operator')
    const isQuieter = logLevels.indexOf(level) > logLevels.indexOf(now())
    if (isQuieter) tell()
    setLevel(level)
    if (!isQuieter) tell()
  }
  beside?.level.onTold(apply)
  return {
    startedAt: new Date(),
    process: beside?.number ?? null,
    file: loaded.file ?? null,
    settings: shownSettings(loaded),
    logLevel: {
      configured: loaded.config.logLevel,
      now,
      change(level) {
        apply(level)
        beside?.level.tell(level)
      },
    },
  }
}
