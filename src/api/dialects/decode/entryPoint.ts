import {
  InvalidParamsError,
  UnsupportedEntryPointError,
} from '../../../base/errors/requestErrors.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { address, type DecodeContext, decodeAddress, type Input, integer } from './values.js'

/** An EntryPoint that the chain has. */
export function decodeEntryPoint(
  value: unknown,
  field: string,
  { entryPoints }: Pick<DecodeContext, 'entryPoints'>,
): EntryPoint {
  const named = decodeAddress(value, field)
  const entryPoint = entryPoints.get(named)
  if (entryPoint === undefined) throw new UnsupportedEntryPointError(named, [...entryPoints.keys()])
  return entryPoint
}

export const entryPoint: Input<EntryPoint> = { json: address.json, decode: decodeEntryPoint }

/** The id of the chain of the URL: a request for another chain came to the wrong URL. */
export const chainId: Input<number> = {
  json: integer.json,
  decode: (value, field, chain) => {
    const named = integer.decode(value, field, chain)
    if (named === chain.chainId) return named
    throw new InvalidParamsError(
      field,
      `is chain ${named}, this URL serves chain ${chain.chainId}.`,
    )
  },
}
