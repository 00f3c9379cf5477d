import { readFileSync } from 'node:fs'
import type { Address, Hex } from 'viem'
import { isAddress, parseEther } from 'viem/utils'
import { ConfigError } from '../base/errors/configError.js'
import { keySchema } from '../chain/definition/chainDefinition.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import { type KeySource, openSigner } from '../chain/signing/openSigner.js'
import { resolveKey } from '../config/resolveKey.js'
import { warnOfSecret } from './optionFlags.js'

/** A name for people; one that spans lines would break the lists. */
export function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > 100 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
    throw new ConfigError(`--name must have 1 to 100 printable characters.`)
  return name
}

/** wei */
export function parseAmount(text = ''): bigint {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(text) || parseEther(text) === 0n)
    throw new ConfigError('--amount must be a positive number of ether, e.g. 0.5.')
  return parseEther(text)
}

/** wei; 0 = none */
export function parseBound(text: string): bigint {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(text))
    throw new ConfigError('--below must be a number of ether, e.g. 0.5, or 0 for never.')
  return parseEther(text)
}

/** A private key, or where one is as JSON, given itself or by what holds it; the error never shows it. */
export function parseKey(
  value: string,
  environment: Readonly<Record<string, string | undefined>>,
): KeySource {
  const text = readSecret(value, environment)
  if (isPrivateKey(text)) return text
  const { success, data } = keySchema.safeParse(parseJson(text))
  if (success) return resolveKey(data, environment)
  throw new ConfigError(
    '--key must be a private key (0x and 64 hex digits), a key as in executorKeys, env:NAME or file:PATH.',
  )
}

function isPrivateKey(text: string): text is Hex {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readSecret(
  value: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (value.startsWith('env:')) return environment[value.slice('env:'.length)] ?? ''
  if (!value.startsWith('file:')) return value
  try {
    return readFileSync(value.slice('file:'.length), 'utf8').trim()
  } catch {
    return ''
  }
}

/** The secret that a flag names by env:NAME or file:PATH; one that stands there itself is taken with a warning. */
export function secretOfFlag(flag: string, value: string): string {
  const secret = readSecret(value, process.env)
  if (secret === '') throw new ConfigError(`${flag}: there is nothing at ${value}.`)
  if (value === secret) warnOfSecret(flag, 'env:NAME or file:PATH')
  return secret
}

/** A signer with the key that the flag `--key` names; a key that stands there itself is taken with a warning. */
export function signerOfFlag(value: string): Promise<ExecutorSigner> {
  if (isPrivateKey(value)) warnOfSecret('--key', 'env:NAME or file:PATH')
  return openSigner(parseKey(value, process.env))
}

/** Mixed case must be a right checksum: money goes there. */
export function parseAddress(flag: string, text: string): Address {
  if (!isAddress(text)) throw new ConfigError(`${flag} must be an address.`)
  return text.toLowerCase() as Address
}
