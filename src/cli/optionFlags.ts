import { type Command, Option } from 'commander'
import { ConfigError } from '../base/errors/configError.js'
import { type LoadedConfig, loadConfig, type Sources } from '../config/loadConfig.js'
import {
  type Config,
  flagOf,
  isSecret,
  type OptionName,
  options,
  variableOf,
} from '../config/options.js'

/** The options of every command that serves. */
export const serviceOptions: readonly OptionName[] = [
  'data',
  'port',
  'host',
  'databaseUrl',
  'masterKey',
  'masterKeyPrevious',
  'logLevel',
  'chains',
  'webhookAllow',
  'debugMethods',
  'maxSponsorshipSeconds',
  'operatorToken',
  'adminListen',
  'adminUrl',
  'adminEmail',
  'adminPassword',
  'oidc',
  'oidcClientSecret',
  'trustedProxies',
  'keyRate',
  'ipRate',
  'nativePrices',
  'retentionDays',
]

function describeDefault(name: OptionName): string {
  const parsed = options[name].schema.safeParse(undefined)
  const value = parsed.success ? parsed.data : undefined
  return value === undefined || typeof value === 'object' ? '' : `, default ${value}`
}

/** Adds flags for the named options, each with its variable, file key and default in the help. */
export function withOptions(command: Command, names: readonly OptionName[]): Command {
  for (const name of names) {
    const { argument, help } = options[name] as { argument?: string; help: string }
    const flags = argument ? `${flagOf(name)} ${argument}` : flagOf(name)
    const sources = `[${variableOf(name)}, file key ${name}${describeDefault(name)}]`
    command.addOption(new Option(flags, `${help} ${sources}`))
  }
  return command.addOption(
    new Option('--config <file>', 'configuration file [PURSER_CONFIG, default purser.json]'),
  )
}

/** The configuration for a command whose flags commander has parsed. */
export function configOf(flags: Record<string, unknown>): Config {
  return loadedOf(flags).config
}

/** The same with the source of each setting. */
export function loadedOf(
  flags: Record<string, unknown>,
  { isFileNamed = false }: Pick<Sources, 'isFileNamed'> = {},
): LoadedConfig {
  const { config: file } = flags
  if (file !== undefined && typeof file !== 'string')
    throw new ConfigError('--config takes one file.')
  const loaded = loadConfig({ flags, environment: process.env, file, isFileNamed })
  warnOfSecrets(flags)
  return loaded
}

/** Warns of flags that hold secrets: others on the machine can read them. */
export function warnOfSecrets(flags: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(options) as OptionName[])
    if (isSecret(name) && flags[name] !== undefined)
      warnOfSecret(flagOf(name), `${variableOf(name)} or ${variableOf(name)}_FILE`)
}

/**
 * Says on the terminal that a secret was given as a flag. Every user of the machine can read the arguments
 * of a process, and shells keep them.
 */
export function warnOfSecret(flag: string, otherWays: string): void {
  console.error(`Warning: others on this machine can read what ${flag} says; use ${otherWays}.`)
}
