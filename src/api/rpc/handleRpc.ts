import type { Logger } from 'pino'
import { InvalidRequestError, MethodNotFoundError } from '../../errors/requestErrors.js'
import { asPurserError } from '../asPurserError.js'
import { decoders } from '../dialects/decode/params.js'
import type { Dialect } from '../dialects/dialect.js'
import { type Call, decodeCall, idOf } from './envelope.js'
import { errorBody } from './errorBody.js'
import type { MethodContext } from './method.js'
import { isMethodName, methodTable } from './methodTable.js'
import type { MethodName } from './signatures.js'

export type RpcContext = MethodContext & {
  readonly dialect: Dialect
  readonly batchLength: number
  readonly logger: Logger
}

/** An HTTP answer. `body` undefined = there were only notifications: 204. */
export type RpcAnswer = { readonly status: number; readonly body: unknown }

/**
 * Answers a parsed JSON-RPC body, single or batch. Never throws. A batch runs its calls side by
 * side, keeps their order and is 200 as a whole; a single error has the dialect's HTTP status.
 */
export const handleRpc = async (body: unknown, context: RpcContext): Promise<RpcAnswer> => {
  if (!Array.isArray(body)) return answerOne(body, context)
  const refusal = checkBatch(body, context.batchLength)
  if (refusal !== undefined)
    return { status: context.dialect.status(refusal), body: errorBody(null, refusal) }
  const answers = await Promise.all(body.map((item) => answerOne(item, context)))
  const bodies = answers.map((answer) => answer.body).filter((answer) => answer !== undefined)
  return bodies.length === 0 ? noContent : { status: 200, body: bodies }
}

const noContent: RpcAnswer = { status: 204, body: undefined }

const checkBatch = (batch: readonly unknown[], limit: number): InvalidRequestError | undefined => {
  if (batch.length === 0) return new InvalidRequestError('the batch is empty.')
  if (batch.length > limit)
    return new InvalidRequestError(`the batch has ${batch.length} calls, at most ${limit} are run.`)
  return undefined
}

const answerOne = async (value: unknown, context: RpcContext): Promise<RpcAnswer> => {
  const { dialect, logger } = context
  let call: Call | undefined
  try {
    call = decodeCall(value)
    const { method } = call
    if (!isMethodName(method)) throw new MethodNotFoundError(method)
    const result = await run(method, call.params, context)
    if (call.id === undefined) return noContent
    return { status: 200, body: { jsonrpc: '2.0', id: call.id, result } }
  } catch (thrown) {
    const error = asPurserError(thrown, logger)
    logger.debug(
      {
        chainId: context.chain.chainId,
        appId: context.appId,
        method: call?.method,
        code: error.code,
      },
      'call refused',
    )
    if (call !== undefined && call.id === undefined) return noContent
    return { status: dialect.status(error), body: errorBody(idOf(value), error) }
  }
}

const run = async <N extends MethodName>(
  method: N,
  params: readonly unknown[],
  context: RpcContext,
): Promise<unknown> => {
  const decoded = decoders[method](params, context.chain)
  const result = await methodTable[method](decoded, context)
  return context.dialect.encoders[method](result)
}
