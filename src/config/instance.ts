import type { LogLevel } from '../base/vocabulary.js'
import type { ShownSetting } from './shownSettings.js'

/** This process, as the operator of the instance sees it. */
export type Instance = {
  readonly startedAt: Date
  /** Its number among those that share a listener; null = it is alone on it. */
  readonly process: number | null
  /** The configuration file that it read; null = there was none. */
  readonly file: string | null
  readonly settings: readonly ShownSetting[]
  readonly logLevel: {
    /** The level with which processes start. */
    readonly configured: LogLevel
    now(): LogLevel
    /** Changes it in this process and in those with which it shares a listener, until they end. */
    change(level: LogLevel): void
  }
}
