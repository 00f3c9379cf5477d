import type { Logger } from 'pino'
import {
  PayloadTooLargeError,
  UnknownKeyError,
  UnsupportedChainError,
} from '../../errors/requestErrors.js'
import { asPurserError } from '../asPurserError.js'
import { selectDialect } from '../dialects/selectDialect.js'
import { isKey } from '../isKey.js'
import type { ApiLimits } from '../limits.js'
import { parseJson } from '../parseJson.js'
import type { ChainServices, KeyIdentity, Services } from '../services.js'
import { idOf, type RequestId } from './envelope.js'
import { errorBody } from './errorBody.js'
import { handleRpc, type RpcAnswer } from './handleRpc.js'

/** One POST to `/api/{version}/{chainId}/{key}?dialect=…`, path parts as they came. */
export type RpcRequest = {
  readonly version: string
  readonly chainId: string
  readonly key: string
  readonly dialect: string | undefined
  readonly readBody: () => Promise<Uint8Array>
}

/**
 * From an HTTP request to an HTTP answer. Never throws. What is wrong with the request as a whole
 * is one JSON-RPC error; its id is the request's where it could be read.
 */
export const answerRpc = async (
  request: RpcRequest,
  services: Services,
  limits: ApiLimits,
  logger: Logger,
): Promise<RpcAnswer> => {
  let id: RequestId = null
  let dialect = selectDialect(request.version, undefined)
  try {
    const body = parseJson(await request.readBody(), limits.jsonDepth)
    id = idOf(body)
    dialect = selectDialect(request.version, request.dialect)
    const { appId } = await authenticate(request.key, services)
    const chain = findChain(request.chainId, services)
    const { clientVersion } = services
    const { batchLength } = limits
    return await handleRpc(body, { chain, appId, clientVersion, dialect, batchLength, logger })
  } catch (thrown) {
    const error = asPurserError(thrown, logger)
    const isOfHttp = error instanceof UnknownKeyError || error instanceof PayloadTooLargeError
    const status = isOfHttp ? error.status : dialect.status(error)
    return { status, body: errorBody(id, error) }
  }
}

const authenticate = async (key: string, services: Services): Promise<KeyIdentity> => {
  const identity = isKey(key) ? await services.authenticateKey(key) : undefined
  if (identity === undefined) throw new UnknownKeyError()
  return identity
}

const findChain = (chainId: string, { chains }: Services): ChainServices => {
  const chain = /^[1-9][0-9]{0,15}$/.test(chainId) ? chains.get(Number(chainId)) : undefined
  if (chain === undefined) throw new UnsupportedChainError(chainId, [...chains.keys()])
  return chain
}
