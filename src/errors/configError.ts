/** A missing or wrong setting, or a start that cannot work. One sentence that says what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
