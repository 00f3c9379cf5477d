import { z } from 'zod'
import type { LogLevel } from '../base/vocabulary.js'
import type { ShownSetting } from './shownSettings.js'

const chainIds = z.array(z.int())

/** What a reload of the configuration changed. */
export const reloaded = z.object({
  started: chainIds,
  replaced: chainIds,
  stopped: chainIds,
  failed: z.array(z.object({ chainId: z.int(), reason: z.string() })),
  /** Settings that differ and count from the next start on. */
  needRestart: z.array(z.string()),
  /** Processes that share a listener are replaced one after the other instead, after this answer. */
  replacesProcesses: z.boolean(),
})

export type Reloaded = z.output<typeof reloaded>

/** This process, as the operator of the instance sees it. */
export type Instance = {
  readonly startedAt: Date
  /** Its number among those that share a listener; null = it is alone on it. */
  readonly process: number | null
  /** The configuration file that it read; null = there was none. */
  readonly file: string | null
  readonly settings: readonly ShownSetting[]
  /**
   * Reads the configuration again and serves the chains that it names now. Throws ConfigError. Absent in a process that
   * reads it at its start only.
   */
  readonly reload: (() => Promise<Reloaded>) | undefined
  readonly logLevel: {
    /** The level with which processes start. */
    readonly configured: LogLevel
    now(): LogLevel
    /** Changes it in this process and in those with which it shares a listener, until they end. */
    change(level: LogLevel): void
  }
}
