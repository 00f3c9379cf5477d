import { readFileSync, statSync } from 'node:fs'
import { parse } from 'yaml'
import { ConfigError } from '../base/errors/configError.js'

/** A policy has 1 MB of terms at most; what is larger is no policy and is not read. */
const MAX_BYTES = 2 * 2 ** 20

/** The object in the file that --file names, as the administration API takes it. Throws ConfigError. */
export function readPolicyFile(file = ''): Readonly<Record<string, unknown>> {
  return readObjectFile(file, '--file')
}

/**
 * The object in a file: YAML where its name ends in .yaml or .yml, else JSON. Throws ConfigError, which begins with
 * the `option` that names the file.
 */
export function readObjectFile(file: string, option: string): Readonly<Record<string, unknown>> {
  const isYaml = /\.ya?ml$/i.test(file)
  let parsed: unknown
  try {
    if (statSync(file).size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
    const text = readFileSync(file, 'utf8')
    parsed = isYaml ? parseYaml(text) : JSON.parse(text)
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n')
    const form = isYaml ? 'YAML' : 'JSON'
    throw new ConfigError(`${option}: ${file} is no ${form}: ${reason}.`, { cause })
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
    return parsed as Readonly<Record<string, unknown>>
  throw new ConfigError(`${option}: ${file} must hold one ${isYaml ? 'YAML' : 'JSON'} object.`)
}

/** Addresses need no quotes: what begins with 0x is text and no number. */
function parseYaml(text: string): unknown {
  return parse(text, {
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || !('format' in tag) || tag.format !== 'HEX'),
    logLevel: 'error',
  })
}
