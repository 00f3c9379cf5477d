import type { Address, Hex } from 'viem'
import { isAddress, parseEther } from 'viem/utils'
import { ConfigError } from '../errors/configError.js'

/** A name for people; one that spans lines would break the lists. */
export function parseName(given = '', flag = '--name'): string {
  const name = given.trim()
  if (name === '' || name.length > 100 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name))
    throw new ConfigError(`${flag} must have 1 to 100 printable characters.`)
  return name
}

/** wei */
export function parseAmount(given = ''): bigint {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(given) || parseEther(given) === 0n)
    throw new ConfigError('--amount must be a positive number of ether, e.g. 0.5.')
  return parseEther(given)
}

/** wei; 0 = none */
export function parseBound(given: string): bigint {
  if (!/^\d{1,12}(\.\d{1,18})?$/.test(given))
    throw new ConfigError('--below must be a number of ether, e.g. 0.5, or 0 for never.')
  return parseEther(given)
}

/** Whole days; 0 = none */
export function parseDays(given: string): number {
  if (!/^\d{1,4}$/.test(given))
    throw new ConfigError('--days must be a whole number of days, or 0 for never.')
  return Number(given)
}

/** A private key, given itself or by the variable that holds it; the error never shows it. */
export function parseKey(
  given: string,
  environment: Readonly<Record<string, string | undefined>>,
): Hex {
  const text = given.startsWith('env:') ? (environment[given.slice('env:'.length)] ?? '') : given
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text as Hex
  throw new ConfigError('--key must be a private key (0x and 64 hex digits) or env:NAME.')
}

/** Mixed case must be a right checksum: money goes there. */
export function parseAddress(flag: string, given: string): Address {
  if (!isAddress(given)) throw new ConfigError(`${flag} must be an address.`)
  return given.toLowerCase() as Address
}
