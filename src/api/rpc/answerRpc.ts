import { KeyRestrictedError, RateLimitError } from '../../base/errors/limitErrors.js'
import type { PurserError } from '../../base/errors/purserError.js'
import {
  PayloadTooLargeError,
  UnknownKeyError,
  UnsupportedChainError,
} from '../../base/errors/requestErrors.js'
import type { KeyOwner } from '../../tenants/keyOwner.js'
import { type Caller, isKey } from '../caller.js'
import { selectDialect } from '../dialects/dialect.js'
import type { Gate } from '../gate/createGate.js'
import { requirePlace } from '../gate/keyRestrictions.js'
import type { SocketSubscriptions } from '../methods/method.js'
import { isMethodName } from '../methods/methodList.js'
import { documentsFor } from '../openRpc/openRpc.js'
import { parseJson } from '../readBody.js'
import { asPurserError } from '../restError.js'
import type { RouteContext } from '../routeContext.js'
import type { ChainServices, Services } from '../services.js'
import { errorBody, idOf, isObject, type RequestId } from './envelope.js'
import { countCall, handleRpc, type RpcAnswer } from './handleRpc.js'
import { toRefusal } from './toRefusal.js'

/** One POST to `/api/{version}/{chainId}/{key}?dialect=…`, path parts as they came. */
export type RpcRequest = {
  readonly version: string
  readonly chainId: string
  readonly key: string
  readonly dialect: string | undefined
  readonly caller: Caller
  /** Reads at most so many bytes. Called once. */
  readonly readBody: (limit: number) => Promise<Uint8Array>
  /** Calls `hear` when the connection closes, or has its answer; the function forgets it. */
  readonly onClose: (hear: () => void) => () => void
  readonly subscriptions?: SocketSubscriptions | undefined
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
  let readable: { readonly identity: KeyOwner; readonly body: unknown } | undefined
  const begin = performance.now()
  try {
    gate.enter(request.caller.ip)
    const identity = await identify(request, services, gate).catch(async (refusal) => {
      if (refusal instanceof UnknownKeyError || refusal instanceof KeyRestrictedError)
        id = await idOfStranger(request, limits)
      throw refusal
    })
    const body = parseJson(await request.readBody(limits.bodyBytes), limits.jsonDepth)
    id = idOf(body)
    readable = { identity, body }
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
      onClose: request.onClose,
      subscriptions: request.subscriptions,
      documents: documentsFor(chain.debug !== undefined).documents,
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
    if (error instanceof RateLimitError)
      metrics.count('purser_rate_limited_total', { limit: error.limit })
    countCall(metrics, 'unknown', String(error.code), begin)
    if (readable !== undefined) recordCalls(readable, error, request, services, limits.batchLength)
    const isOfRequest = requestErrors.some((kind) => error instanceof kind)
    const status = isOfRequest ? error.status : dialect.status(error)
    return { status, body: errorBody(id, error), retryAfter: error.retryAfter }
  }
}

/** Records the calls of a request that is refused as a whole, though its key is good: for its chain, say. */
function recordCalls(
  { identity, body }: { readonly identity: KeyOwner; readonly body: unknown },
  error: PurserError,
  { chainId, caller: { requestId } }: RpcRequest,
  { recordRefusal }: Services,
  batchLength: number,
): void {
  const calls: readonly unknown[] = Array.isArray(body) ? body.slice(0, batchLength) : [body]
  for (const call of calls) {
    const { method: name, params } = isObject(call) ? call : {}
    if (typeof name !== 'string' || !isMethodName(name) || !Array.isArray(params)) continue
    const refused = { name, params, error, chainId: chainNumber(chainId), identity, requestId }
    const refusal = toRefusal(refused)
    if (refusal !== undefined) recordRefusal(refusal)
  }
}

/** The chain id of a path; 0 where it is none. */
function chainNumber(text: string): number {
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0
}

/** Errors that have their HTTP status in every dialect: they concern the request, not a method. */
const requestErrors = [UnknownKeyError, PayloadTooLargeError, RateLimitError, KeyRestrictedError]

/** The most bytes that are read of a request without a good key, for its id. */
const STRANGERS_BYTES = 4_096

/** The id of a request that is refused for its key or path; null where its body is no small JSON. */
export async function idOfStranger(
  { readBody }: Pick<RpcRequest, 'readBody'>,
  { jsonDepth }: Pick<RouteContext['limits'], 'jsonDepth'>,
): Promise<RequestId> {
  try {
    return idOf(parseJson(await readBody(STRANGERS_BYTES), jsonDepth))
  } catch {
    return null
  }
}

type Credential = Pick<RpcRequest, 'key' | 'caller'>

/** The key of the request, which may be used from its place. */
export async function identify(
  request: Credential,
  services: Services,
  gate: Gate,
): Promise<KeyOwner> {
  const identity = await authenticate(request, services, gate)
  requirePlace(identity, request.caller)
  return identity
}

async function authenticate(
  { key, caller }: Credential,
  services: Services,
  gate: Gate,
): Promise<KeyOwner> {
  gate.tryCredential(caller.ip, key)
  const identity = isKey(key) ? await services.authenticateKey(key) : undefined
  if (identity === undefined) {
    gate.credentialWasWrong(caller.ip)
    throw new UnknownKeyError(key === '')
  }
  gate.credentialWasRight(key)
  services.keyUsed(identity.keyId)
  return identity
}

function findChain(chainId: string, { chains, requireServed }: Services): ChainServices {
  const id = chainNumber(chainId)
  requireServed(id)
  const chain = chains.get(id)
  if (chain === undefined) throw new UnsupportedChainError(chainId, [...chains.keys()])
  return chain
}
