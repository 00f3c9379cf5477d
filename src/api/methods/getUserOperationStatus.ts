import { OperationNotFoundError } from '../../errors/operationErrors.js'
import type { Method } from '../rpc/method.js'

export const getUserOperationStatus: Method<'biconomy_getUserOperationStatus'> = async (
  { hash },
  { chain },
) => {
  const status = await chain.status(hash)
  if (status === undefined) throw new OperationNotFoundError(hash, chain.chainId)
  return status
}
