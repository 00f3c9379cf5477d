import { existsSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { ConfigError } from '../errors/configError.js'
import { type Config, flagOf, isSecret, type OptionName, options, variableOf } from './options.js'

export type Sources = {
  /** Raw values by option name, as the command line gave them. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Path of the configuration file; absent = `purser.json` where it exists. */
  readonly file: string | undefined
}

const DEFAULT_FILE = 'purser.json'

function readFile(path: string | undefined): Record<string, unknown> {
  if (path === undefined && !existsSync(DEFAULT_FILE)) return {}
  const name = path ?? DEFAULT_FILE
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch {
    throw new ConfigError(`Configuration file ${name} cannot be read.`)
  }
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>
  } catch {
    // falls through to the same sentence
  }
  throw new ConfigError(`Configuration file ${name} must be one JSON object.`)
}

/** A secret from the file that the option's variable with `_FILE` names. */
function fileOf(name: OptionName, environment: Sources['environment']): [string, unknown] {
  const variable = `${variableOf(name)}_FILE`
  const path = environment[variable]
  if (!path) return [variable, undefined]
  try {
    return [variable, readFileSync(path, 'utf8').trim()]
  } catch {
    throw new ConfigError(`${variable}: the file ${path} cannot be read.`)
  }
}

/**
 * All settings: a flag wins over the environment, that over the file, that over the default.
 * @throws ConfigError naming the setting and where it came from
 */
export function loadConfig({ flags, environment, file }: Sources): Config {
  const fromFile = readFile(file ?? environment.PURSER_CONFIG)
  const names = Object.keys(options) as OptionName[]
  const unknown = Object.keys(fromFile).find((key) => !names.includes(key as OptionName))
  if (unknown !== undefined)
    throw new ConfigError(`Unknown setting "${unknown}" in the configuration file.`)

  const config: Record<string, unknown> = {}
  for (const name of names) {
    const candidates: [string, unknown][] = [
      [flagOf(name), flags[name]],
      [variableOf(name), environment[variableOf(name)] || undefined],
      ...(isSecret(name) ? [fileOf(name, environment)] : []),
      ...(name === 'databaseUrl'
        ? [['DATABASE_URL', environment.DATABASE_URL || undefined] as [string, unknown]]
        : []),
      [`"${name}" in the configuration file`, fromFile[name]],
    ]
    const [source, raw] = candidates.find(([, value]) => value !== undefined) ?? [
      'default',
      undefined,
    ]
    const parsed = (options[name].schema as z.ZodType).safeParse(raw)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      const place = issue?.path.length ? ` (${issue.path.join('.')})` : ''
      throw new ConfigError(`${source}${place}: ${issue?.message ?? 'is wrong'}.`)
    }
    config[name] = parsed.data
  }
  return config as Config
}
