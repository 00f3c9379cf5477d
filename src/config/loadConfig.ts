import { existsSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { ConfigError } from '../base/errors/configError.js'
import { issueOf } from '../base/explainIssue.js'
import { explainJson } from '../base/explainJson.js'
import { suggest } from '../base/suggest.js'
import type { SettingSource } from '../base/vocabulary.js'
import { type Config, flagOf, isSecret, type OptionName, options, variableOf } from './options.js'

export type Sources = {
  /** Raw values by option name, as the command line gave them. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Path of the configuration file; absent = `purser.json` where it exists. */
  readonly file: string | undefined
  /** Whether only a file that is named is read. */
  readonly isFileNamed?: boolean
}

/** All settings, and where each comes from. */
export type LoadedConfig = {
  readonly config: Config
  readonly origins: Readonly<Record<OptionName, SettingSource>>
  /** The configuration file that was read; undefined = there is none. */
  readonly file: string | undefined
}

const DEFAULT_FILE = 'purser.json'

function readFile(name: string): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(name, 'utf8')
  } catch {
    throw new ConfigError(`Configuration file ${name} cannot be read.`)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new ConfigError(
      `Configuration file ${name} is not valid JSON: ${explainJson(text, error as Error)}.`,
    )
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return parsed as Record<string, unknown>
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

/** One place in which a setting may stand, and what stands there; undefined = nothing. */
type Candidate = readonly [source: SettingSource, name: string, value: unknown]

function candidatesOf(
  name: OptionName,
  { flags, environment }: Sources,
  fromFile: Readonly<Record<string, unknown>>,
): readonly Candidate[] {
  const variable = variableOf(name)
  return [
    ['flag', flagOf(name), flags[name]],
    ['environment', variable, environment[variable] || undefined],
    ...(isSecret(name) ? [['environment', ...fileOf(name, environment)] as const] : []),
    ...(name === 'databaseUrl'
      ? [['environment', 'DATABASE_URL', environment.DATABASE_URL || undefined] as const]
      : []),
    ['file', `"${name}" in the configuration file`, fromFile[name]],
  ]
}

/** The value that text of a flag or a variable holds as JSON. */
function jsonOf(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw
  try {
    return JSON.parse(raw)
  } catch {
    return raw
  }
}

/**
 * All settings: a flag wins over the environment, that over the file, that over the default.
 * @throws ConfigError naming the setting and where it came from
 */
export function loadConfig(sources: Sources): LoadedConfig {
  const named = sources.file ?? sources.environment.PURSER_CONFIG
  const isThere = sources.isFileNamed !== true && existsSync(DEFAULT_FILE)
  const file = named ?? (isThere ? DEFAULT_FILE : undefined)
  const fromFile = file === undefined ? {} : readFile(file)
  const names = Object.keys(options) as OptionName[]
  const unknown = Object.keys(fromFile).find((key) => !names.includes(key as OptionName))
  if (unknown !== undefined)
    throw new ConfigError(
      `Unknown setting "${unknown}" in the configuration file${suggest(unknown, names)}.`,
    )

  const config: Record<string, unknown> = {}
  const origins: Record<string, SettingSource> = {}
  for (const name of names) {
    const found = candidatesOf(name, sources, fromFile).find(([, , value]) => value !== undefined)
    const [source, place, raw] = found ?? ['default', 'default', undefined]
    const parsed = (options[name].schema as z.ZodType).safeParse(raw)
    if (!parsed.success) {
      const { path, reason } = issueOf(parsed.error, jsonOf(raw), options[name].schema)
      throw new ConfigError(`${place}${path === '' ? '' : ` (${path})`}: ${reason}.`)
    }
    config[name] = parsed.data
    origins[name] = source
  }
  return { config: config as Config, origins: origins as LoadedConfig['origins'], file }
}
