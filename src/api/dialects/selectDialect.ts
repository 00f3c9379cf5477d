import { InvalidParamsError } from '../../errors/requestErrors.js'
import { classic, type Dialect, standard } from './dialect.js'

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
