import { ConfigError } from '../errors/configError.js'

/** The error of a command that names an account, app or key that does not live. */
export function unknownObject(what: string, id: string | undefined): ConfigError {
  return new ConfigError(`There is no live ${what} ${id}; see \`purser ${what} list\`.`)
}
