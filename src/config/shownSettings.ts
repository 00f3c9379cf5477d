import { z } from 'zod'
import { settingSources } from '../base/vocabulary.js'
import type { LoadedConfig } from './loadConfig.js'
import { flagOf, isSecret, type OptionName, options, variableOf } from './options.js'

/** One setting as operators may see it. */
export const shownSetting = z.object({
  name: z.string(),
  flag: z.string(),
  variable: z.string(),
  help: z.string(),
  source: z.enum(settingSources),
  isSecret: z.boolean(),
  /** Of a URL of a node or provider only the host. Null = not set, or a secret. */
  value: z.unknown(),
})

export type ShownSetting = z.output<typeof shownSetting>

/** Addresses that everybody knows; all other URLs are of nodes and providers, whose paths hold keys. */
const publicAddresses: readonly OptionName[] = ['publicUrl', 'adminUrl']

/** Every setting with the value that counts and its source, without anything that must stay secret. */
export function shownSettings({
  config,
  origins,
}: Pick<LoadedConfig, 'config' | 'origins'>): readonly ShownSetting[] {
  return (Object.keys(options) as OptionName[]).map((name) => {
    const value = config[name] ?? null
    return {
      name,
      flag: flagOf(name),
      variable: variableOf(name),
      help: options[name].help,
      source: origins[name],
      isSecret: isSecret(name),
      value: isSecret(name)
        ? null
        : typeof value === 'string' && publicAddresses.includes(name)
          ? addressOf(value)
          : harmless(value),
    }
  })
}

/** Without user, password and query. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** 32 bytes: a private key, wherever it stands. */
const keyLike = /^0x[0-9a-f]{64}$/i
const urlLike = /^[a-z][a-z0-9+.-]*:\/\//i

function harmless(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string') {
    if (keyLike.test(value)) return 'a key, not shown'
    return urlLike.test(value) ? hostOf(value) : value
  }
  if (Array.isArray(value)) return value.map(harmless)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, harmless(member)]))
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'a URL, not shown'
}
