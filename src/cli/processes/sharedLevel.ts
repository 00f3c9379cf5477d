import type { LogLevel } from '../../base/vocabulary.js'

/** The log level, as a process shares it with the others of its group. */
export type SharedLevel = {
  /** Gives it to the others. */
  publish(level: LogLevel): void
  /** Sets what happens when another process gives one. */
  onChange(hear: (level: LogLevel) => void): void
}
