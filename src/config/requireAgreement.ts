import { ConfigError } from '../base/errors/configError.js'
import type { Config } from './options.js'

/** Throws ConfigError where settings contradict each other. */
export function requireAgreement({ debugMethods, host, adminEmail, adminPassword }: Config): void {
  if (debugMethods && !isLoopback(host))
    throw new ConfigError(
      `--debug-methods lets every caller clear the pool: listen on 127.0.0.1, not on ${host}.`,
    )
  if ((adminEmail === undefined) !== (adminPassword === undefined))
    throw new ConfigError('adminEmail and adminPassword belong together: set both, or neither.')
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|::1)$/.test(host)
}

/** Throws ConfigError where several processes are asked for, and nothing that they can share. */
export function requireShared({ processes, databaseUrl, embeddedChain }: Config): void {
  if (processes > 1 && (databaseUrl === undefined || embeddedChain))
    throw new ConfigError(
      '--processes needs a database server that all of them share, and a chain of its own: set --database-url and leave --embedded-chain out.',
    )
}
