import type { PurserError } from '../../base/errors/purserError.js'
import { InvalidParamsError } from '../../base/errors/requestErrors.js'

export const dialectNames = ['classic', 'standard'] as const

export type DialectName = (typeof dialectNames)[number]

/** A way in which answers are written. */
export type Dialect = {
  readonly name: DialectName
  /** The HTTP status of a single JSON-RPC error. */
  status(error: PurserError): number
}

/** One value for each dialect. */
export type PerDialect<Value> = { readonly [Name in DialectName]: Value }

/**
 * The field types of the interface's tables. An error has its own HTTP status, mostly 400, because
 * the SDKs of this dialect take any 200 for success.
 */
export const classic: Dialect = {
  name: 'classic',
  status: (error) => error.status,
}

/** ERC-7769 and ERC-7677: hex quantities, booleans, HTTP 200 also for errors of a call. */
export const standard: Dialect = {
  name: 'standard',
  status: () => 200,
}

/**
 * v1 and v2 speak the classic dialect, v3 the standard one. `?dialect=standard` lets clients such
 * as viem, whose documentation points them at v2, read answers there.
 */
export function selectDialect(version: string, wanted: string | undefined): Dialect {
  if (wanted === undefined) return version === 'v3' ? standard : classic
  if (wanted === 'standard') return standard
  if (wanted === 'classic') return classic
  throw new InvalidParamsError('dialect', 'must be "classic" or "standard".')
}
