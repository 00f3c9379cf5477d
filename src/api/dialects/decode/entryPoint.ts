import type { EntryPoint } from '../../../entrypoint/entryPoint.js'
import { UnsupportedEntryPointError } from '../../../errors/requestErrors.js'
import type { ChainServices } from '../../services.js'
import { decodeAddress } from './bytes.js'

/** The part of a chain that decoding needs. */
export type DecodeContext = Pick<ChainServices, 'chainId' | 'entryPoints'>

/** An EntryPoint that the chain has. */
export function decodeEntryPoint(
  value: unknown,
  field: string,
  { entryPoints }: DecodeContext,
): EntryPoint {
  const address = decodeAddress(value, field)
  const entryPoint = entryPoints.get(address)
  if (entryPoint === undefined)
    throw new UnsupportedEntryPointError(address, [...entryPoints.keys()])
  return entryPoint
}

/** [entryPoint] */
export function decodeEntryPointParams([address]: readonly unknown[], chain: DecodeContext) {
  return { entryPoint: decodeEntryPoint(address, 'params[0]', chain) }
}
