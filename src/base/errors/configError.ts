/**
 * A setting is missing or wrong, or the start cannot work. The message is one sentence that says
 * what to do.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The node of a chain does not answer at the start. The message is one sentence that says what to do. */
export class ChainAwayError extends Error {
  override readonly name = 'ChainAwayError'
}
