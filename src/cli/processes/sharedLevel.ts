import type { LogLevel } from '../../base/vocabulary.js'

/** The level of the log, as a process shares it with those beside it. */
export type SharedLevel = {
  /** Gives it to the others. */
  tell(level: LogLevel): void
  /** Sets what happens when another process gives one. */
  onTold(hear: (level: LogLevel) => void): void
}
