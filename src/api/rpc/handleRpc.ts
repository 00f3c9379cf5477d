import type { Logger } from 'pino'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import type { PurserError } from '../../base/errors/purserError.js'
import {
  InvalidRequestError,
  MethodNotFoundError,
  PayloadTooLargeError,
} from '../../base/errors/requestErrors.js'
import type { Metrics } from '../../base/metrics/metrics.js'
import type { Requester } from '../../base/requester.js'
import type { KeyOwner } from '../../tenants/keyOwner.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Gate } from '../gate/createGate.js'
import { requireMethod } from '../gate/keyRestrictions.js'
import type { MethodContext } from '../methods/method.js'
import { isMethodName, type MethodName, methods } from '../methods/methodList.js'
import { asPurserError } from '../restError.js'
import type { Services } from '../services.js'
import { decodeCall, errorBody, idOf, type RpcCall } from './envelope.js'
import { toRefusal } from './toRefusal.js'

type RpcContext = Omit<MethodContext, 'requester'> & {
  readonly dialect: Dialect
  readonly batchLength: number
  /** The key of the path, with the methods that it may call. */
  readonly identity: KeyOwner
  readonly requestId: string
  readonly recordRefusal: Services['recordRefusal']
  readonly takeRequest: Services['takeRequest']
  readonly countRequest: Services['countRequest']
  readonly gate: Gate
  readonly metrics: Metrics
  readonly logger: Logger
}

/** An HTTP answer. `body` is JSON; undefined = there were only notifications: 204. */
export type RpcAnswer = {
  readonly status: number
  readonly body: string | undefined
  /** Seconds, for the header of that name. */
  readonly retryAfter?: number | undefined
}

/**
 * Answers a parsed JSON-RPC body, single or batch. Never throws. A batch runs its calls side by
 * side, keeps their order and is 200 as a whole; a single error has the dialect's HTTP status.
 */
export async function handleRpc(body: unknown, context: RpcContext): Promise<RpcAnswer> {
  if (!Array.isArray(body)) return answerOne(body, context)
  const refusal = checkBatch(body, context.batchLength)
  if (refusal !== undefined)
    return { status: context.dialect.status(refusal), body: errorBody(null, refusal) }
  const bodies = (await answerAll(body, context)).filter((answer) => answer !== undefined)
  return bodies.length === 0 ? noContent : { status: 200, body: `[${bodies.join(',')}]` }
}

const INTERNAL_ERROR = '-32603'

/**
 * Counts a call.
 * @param code `ok`, or the code of its error
 * @param begin of the call by `performance.now()`
 */
export function countCall(metrics: Metrics, method: string, code: string, begin: number): void {
  const isInternal = code === INTERNAL_ERROR
  metrics.count('purser_rpc_calls_total', { method, code })
  if (isInternal) metrics.count('purser_internal_errors_total', { api: 'rpc' })
  const outcome = code === 'ok' ? 'ok' : isInternal ? 'failed' : 'refused'
  const seconds = (performance.now() - begin) / 1_000
  metrics.observe('purser_rpc_duration_seconds', { method, outcome }, seconds)
}

const noContent: RpcAnswer = { status: 204, body: undefined }

function checkBatch(batch: readonly unknown[], limit: number): InvalidRequestError | undefined {
  if (batch.length === 0) return new InvalidRequestError('the batch is empty.')
  if (batch.length > limit)
    return new InvalidRequestError(`the batch has ${batch.length} calls, at most ${limit} are run.`)
  return undefined
}

/** Characters that the large answers of a batch have together: a read of the node alone may give 8 MiB, and a batch has 100. */
const MOST_ANSWERED = 32 * 1024 * 1024
/** An answer that is not longer always fits: it may be the hash of an operation that was accepted. */
const LARGE = 64 * 1024
const ANSWERS = 'The length of the answers of a batch'

/** The answers to the calls of a batch; a large one that does not fit next to the others is an error in its place. */
function answerAll(
  batch: readonly unknown[],
  context: RpcContext,
): Promise<readonly RpcAnswer['body'][]> {
  let left = MOST_ANSWERED
  const answer = async (item: unknown): Promise<RpcAnswer['body']> => {
    const { body } = await answerOne(item, context)
    if (body === undefined || body.length <= LARGE) return body
    if (body.length > left)
      return errorBody(idOf(item), new PayloadTooLargeError(ANSWERS, MOST_ANSWERED))
    left -= body.length
    return body
  }
  return Promise.all(batch.map(answer))
}

async function answerOne(value: unknown, context: RpcContext): Promise<RpcAnswer> {
  const { dialect, logger } = context
  const begin = performance.now()
  let call: RpcCall | undefined
  let name: MethodName | undefined
  const count = (code: string): void => countCall(context.metrics, name ?? 'unknown', code, begin)
  try {
    call = decodeCall(value)
    const { method } = call
    if (!isMethodName(method) || !isServed(method, context))
      throw new MethodNotFoundError(method, servedMethods(context))
    name = method
    const { id } = call
    const result = await run(method, call.params, context)
    const body = id === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', id, result })
    count('ok')
    context.countRequest(context.identity.keyId, false)
    return body === undefined ? noContent : { status: 200, body }
  } catch (thrown) {
    const error = asPurserError(thrown, logger)
    count(String(error.code))
    context.countRequest(context.identity.keyId, error instanceof RateLimitError)
    if (error instanceof RateLimitError)
      context.metrics.count('purser_rate_limited_total', { limit: error.limit })
    logger.debug(
      {
        chainId: context.chain.chainId,
        appId: context.appId,
        method: call?.method,
        code: error.code,
        requestId: context.requestId,
      },
      'call refused',
    )
    if (call !== undefined && name !== undefined) record(call.params, name, error, context)
    if (call !== undefined && call.id === undefined) return noContent
    const status = error instanceof RateLimitError ? error.status : dialect.status(error)
    return { status, body: errorBody(idOf(value), error), retryAfter: error.retryAfter }
  }
}

/** Records the refusal, for the app's developer to look up. */
function record(
  params: readonly unknown[],
  name: MethodName,
  error: PurserError,
  { chain: { chainId }, identity, requestId, recordRefusal }: RpcContext,
): void {
  const refusal = toRefusal({ name, params, error, chainId, identity, requestId })
  if (refusal !== undefined) recordRefusal(refusal)
}

/** Debug methods exist where the operator asked for them, reads of the node where they are not forbidden. */
function isServed(method: MethodName, { chain }: RpcContext): boolean {
  const { scope } = methods[method]
  if (scope === 'debug') return chain.debug !== undefined
  return scope !== 'node' || chain.reads !== undefined
}

function servedMethods(context: RpcContext): readonly string[] {
  return Object.keys(methods).filter((name) => isMethodName(name) && isServed(name, context))
}

async function run<Name extends MethodName>(
  name: Name,
  params: readonly unknown[],
  context: RpcContext,
): Promise<unknown> {
  const { identity, gate } = context
  const method = methods[name]
  requireMethod(identity, name)
  gate.call(identity.keyId, name)
  await context.takeRequest(identity)
  const decoded = method.decode(params, context.chain)
  const { operation, draft }: Decoded = decoded
  const sender = (operation ?? draft)?.sender
  if (sender !== undefined) gate.about(identity.keyId, sender, name)
  const answer = (requester?: Requester) => method.run(decoded, { ...context, requester })
  const result = method.simulates
    ? await gate.simulate(identity.keyId, name, answer)
    : await answer()
  const refusal = method.refusal?.(result)
  if (refusal !== undefined) record(params, name, refusal, context)
  return method.encode[context.dialect.name](result)
}

type Decoded = {
  readonly operation?: { readonly sender: string }
  readonly draft?: { readonly sender: string }
  readonly [name: string]: unknown
}
