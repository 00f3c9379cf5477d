import { KeyRestrictedError, RateLimitError } from '../../errors/limitErrors.js'
import {
  PayloadTooLargeError,
  UnknownKeyError,
  UnsupportedChainError,
} from '../../errors/requestErrors.js'
import { asPurserError } from '../asPurserError.js'
import type { Caller } from '../caller.js'
import { selectDialect } from '../dialects/selectDialect.js'
import type { Gate } from '../gate/createGate.js'
import { requirePlace } from '../gate/keyRestrictions.js'
import { isKey } from '../isKey.js'
import { parseJson } from '../parseJson.js'
import type { RouteContext } from '../routeContext.js'
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
  readonly caller: Caller
  /** Reads at most so many bytes. Called once. */
  readonly readBody: (limit: number) => Promise<Uint8Array>
}

/**
 * From an HTTP request to an HTTP answer. Never throws. What is wrong with the request as a whole
 * is one JSON-RPC error; its id is the request's where it could be read. The key comes first: of a
 * request without a good one no more is read than an id takes.
 */
export async function answerRpc(
  request: RpcRequest,
  services: Services,
  { limits, gate, metrics, logger }: RouteContext,
): Promise<RpcAnswer> {
  let id: RequestId = null
  let dialect = selectDialect(request.version, undefined)
  try {
    gate.enter(request.caller.ip)
    const identity = await identify(request, services, gate).catch(async (refusal) => {
      if (refusal instanceof UnknownKeyError || refusal instanceof KeyRestrictedError)
        id = await idOfStranger(request, limits)
      throw refusal
    })
    const body = parseJson(await request.readBody(limits.bodyBytes), limits.jsonDepth)
    id = idOf(body)
    dialect = selectDialect(request.version, request.dialect)
    const chain = findChain(request.chainId, services)
    const { clientVersion, recordRefusal, takeRequest, countRequest, sponsorOf } = services
    const { batchLength } = limits
    const { appId } = identity
    return await handleRpc(body, {
      chain,
      appId,
      keyId: identity.keyId,
      clientVersion,
      sponsorOf,
      dialect,
      batchLength,
      identity,
      requestId: request.caller.requestId,
      recordRefusal,
      takeRequest,
      countRequest,
      gate,
      metrics,
      logger,
    })
  } catch (thrown) {
    const error = asPurserError(thrown, logger)
    if (error instanceof RateLimitError) metrics.limited(error.limit)
    const isOfRequest = requestErrors.some((kind) => error instanceof kind)
    const status = isOfRequest ? error.status : dialect.status(error)
    return { status, body: errorBody(id, error), retryAfter: error.retryAfter }
  }
}

/** Errors that have their HTTP status in every dialect: they concern the request, not a method. */
const requestErrors = [UnknownKeyError, PayloadTooLargeError, RateLimitError, KeyRestrictedError]

/** The most bytes that are read of a request without a good key, for its id. */
const STRANGERS_BYTES = 4_096

/** The id of a request that is refused for its key; null where its body is no small JSON. */
async function idOfStranger(
  { readBody }: RpcRequest,
  { jsonDepth }: Pick<RouteContext['limits'], 'jsonDepth'>,
): Promise<RequestId> {
  try {
    return idOf(parseJson(await readBody(STRANGERS_BYTES), jsonDepth))
  } catch {
    return null
  }
}

/** The key of the request, which may be used from its place. */
async function identify(request: RpcRequest, services: Services, gate: Gate): Promise<KeyIdentity> {
  const identity = await authenticate(request, services, gate)
  requirePlace(identity, request.caller)
  return identity
}

async function authenticate(
  { key, caller }: RpcRequest,
  services: Services,
  gate: Gate,
): Promise<KeyIdentity> {
  gate.tryCredential(caller.ip, key)
  const identity = isKey(key) ? await services.authenticateKey(key) : undefined
  if (identity === undefined) {
    gate.credentialWasWrong(caller.ip)
    throw new UnknownKeyError()
  }
  gate.credentialWasRight(key)
  services.keyUsed(identity.keyId)
  return identity
}

function findChain(chainId: string, { chains, requireServed }: Services): ChainServices {
  const id = /^[1-9][0-9]{0,15}$/.test(chainId) ? Number(chainId) : 0
  requireServed(id)
  const chain = chains.get(id)
  if (chain === undefined) throw new UnsupportedChainError(chainId, [...chains.keys()])
  return chain
}
