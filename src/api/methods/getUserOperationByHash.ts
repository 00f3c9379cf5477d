import type { Method } from '../rpc/method.js'

export const getUserOperationByHash: Method<'eth_getUserOperationByHash'> = async (
  { hash },
  { chain },
) => {
  const found = await chain.byHash(hash)
  if (found === undefined) return undefined
  const entryPoint = chain.entryPoints.get(found.entryPoint)
  if (entryPoint === undefined)
    throw new Error(`operation ${hash} belongs to the unknown EntryPoint ${found.entryPoint}`)
  return { ...found, version: entryPoint.version }
}
