import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { DecodeContext } from './entryPoint.js'
import { decodeInteger } from './quantity.js'

/** Refuses the chain id of another chain: a request for it came to the wrong URL. */
export function requireChainId(
  value: unknown,
  field: string,
  { chainId }: Pick<DecodeContext, 'chainId'>,
): void {
  const named = decodeInteger(value, field, { min: 0, max: Number.MAX_SAFE_INTEGER })
  if (named !== chainId)
    throw new InvalidParamsError(field, `is chain ${named}, this URL serves chain ${chainId}.`)
}
