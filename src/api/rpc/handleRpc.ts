import type { Logger } from 'pino'
import { RateLimitError } from '../../errors/limitErrors.js'
import type { PurserError } from '../../errors/purserError.js'
import { InvalidRequestError, MethodNotFoundError } from '../../errors/requestErrors.js'
import type { Metrics } from '../../metrics/createMetrics.js'
import { asPurserError } from '../asPurserError.js'
import type { Dialect } from '../dialects/dialect.js'
import type { Gate } from '../gate/createGate.js'
import { requireMethod } from '../gate/keyRestrictions.js'
import type { MethodContext } from '../methods/method.js'
import { isMethodName, type MethodName, type MethodParams, methods } from '../methods/methodList.js'
import type { KeyIdentity, Services } from '../services.js'
import { decodeCall, idOf, type RpcCall } from './envelope.js'
import { errorBody } from './errorBody.js'
import { toRefusal } from './toRefusal.js'

export type RpcContext = MethodContext & {
  readonly dialect: Dialect
  readonly batchLength: number
  /** The key of the path, with the methods that it may call. */
  readonly identity: KeyIdentity
  readonly requestId: string
  readonly recordRefusal: Services['recordRefusal']
  readonly takeRequest: Services['takeRequest']
  readonly countRequest: Services['countRequest']
  readonly gate: Gate
  readonly metrics: Metrics
  readonly logger: Logger
}

/** An HTTP answer. `body` undefined = there were only notifications: 204. */
export type RpcAnswer = {
  readonly status: number
  readonly body: unknown
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
  const answers = await Promise.all(body.map((item) => answerOne(item, context)))
  const bodies = answers.map((answer) => answer.body).filter((answer) => answer !== undefined)
  return bodies.length === 0 ? noContent : { status: 200, body: bodies }
}

const noContent: RpcAnswer = { status: 204, body: undefined }

function checkBatch(batch: readonly unknown[], limit: number): InvalidRequestError | undefined {
  if (batch.length === 0) return new InvalidRequestError('the batch is empty.')
  if (batch.length > limit)
    return new InvalidRequestError(`the batch has ${batch.length} calls, at most ${limit} are run.`)
  return undefined
}

async function answerOne(value: unknown, context: RpcContext): Promise<RpcAnswer> {
  const { dialect, logger } = context
  const begin = performance.now()
  let call: RpcCall | undefined
  let name: MethodName | undefined
  const count = (code: string): void =>
    context.metrics.call(name ?? 'unknown', code, (performance.now() - begin) / 1_000)
  try {
    call = decodeCall(value)
    const { method } = call
    if (!isMethodName(method) || !isServed(method, context)) throw new MethodNotFoundError(method)
    name = method
    const result = await run(method, call.params, context)
    count('ok')
    context.countRequest(context.identity.keyId, false)
    if (call.id === undefined) return noContent
    return { status: 200, body: { jsonrpc: '2.0', id: call.id, result } }
  } catch (thrown) {
    const error = asPurserError(thrown, logger)
    count(String(error.code))
    context.countRequest(context.identity.keyId, error instanceof RateLimitError)
    if (error instanceof RateLimitError) context.metrics.limited(error.limit)
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
  const sender = senderOf(decoded)
  if (sender !== undefined) gate.about(identity.keyId, sender, name)
  const answer = () => method.run(decoded, context)
  const result = method.simulates
    ? await gate.simulate(identity.keyId, name, answer)
    : await answer()
  const refusal = method.refusal?.(result)
  if (refusal !== undefined) record(params, name, refusal, context)
  return method.encode[context.dialect.name](result)
}

/** The sender of the operation that decoded parameters are about. */
function senderOf(decoded: MethodParams<MethodName>): string | undefined {
  if (decoded === null || 'hash' in decoded) return undefined
  if ('operation' in decoded) return decoded.operation.sender
  return 'draft' in decoded ? decoded.draft.sender : undefined
}
