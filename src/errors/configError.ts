/**
 * A setting is missing or wrong, or the start cannot work. The message is one sentence that says
 * what to do.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
