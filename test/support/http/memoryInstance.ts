import type { LogLevel } from '../../../src/base/vocabulary.js'
import type { Instance } from '../../../src/config/instance.js'
import { loadConfig } from '../../../src/config/loadConfig.js'
import { shownSettings } from '../../../src/config/shownSettings.js'

/** A process of default settings, whose level of the log is remembered and does nothing. */
export function memoryInstance(): Instance {
  const loaded = loadConfig({ flags: {}, environment: {}, file: undefined })
  let level: LogLevel = 'info'
  return {
    startedAt: new Date(),
    process: null,
    file: null,
    reload: async () => ({
      started: [],
      replaced: [],
      stopped: [],
      failed: [],
      needRestart: [],
      replacesProcesses: false,
    }),
    settings: shownSettings(loaded),
    logLevel: {
      configured: 'info',
      now: () => level,
      change(next) {
        level = next
      },
    },
  }
}
