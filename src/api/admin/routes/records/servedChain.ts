import { NotFoundError } from '../../../../errors/restErrors.js'
import type { AdminContext } from '../../../adminContext.js'
import type { ChainServices } from '../../../services.js'

/** A chain that is served. Throws NotFoundError. */
export function servedChain({ chains }: AdminContext, chainId: number): ChainServices {
  const chain = chains.get(chainId)
  if (chain === undefined) throw new NotFoundError('Chain')
  return chain
}
