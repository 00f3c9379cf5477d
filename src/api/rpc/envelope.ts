import type { PurserError } from '../../base/errors/purserError.js'
import { InvalidParamsError, InvalidRequestError } from '../../base/errors/requestErrors.js'
import { type Members, member } from '../dialects/decode/values.js'

export type RequestId = string | number | null

/** One JSON-RPC call. `id` undefined = a notification, which gets no answer. */
export type RpcCall = {
  readonly id: RequestId | undefined
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * Checks one request object of the envelope. `jsonrpc` may be missing or "2.0.0", which the
 * interface's own tables name. Throws InvalidRequestError, or InvalidParamsError for named params.
 */
export function decodeCall(value: unknown): RpcCall {
  if (!isObject(value)) throw new InvalidRequestError('it must be a JSON object.')
  const id = Object.hasOwn(value, 'id') ? value.id : undefined
  if (id !== undefined && !isId(id))
    throw new InvalidRequestError('id must be a string, a number or null.')
  const version = member(value, 'jsonrpc')
  if (version !== undefined && version !== '2.0' && version !== '2.0.0')
    throw new InvalidRequestError('jsonrpc must be "2.0".')
  const method = member(value, 'method')
  if (typeof method !== 'string' || method === '')
    throw new InvalidRequestError('method must be a string that names a method.')
  return { id, method, params: decodeParams(value) }
}

/** The id to answer an invalid request with: its own where it has a usable one, else null. */
export function idOf(value: unknown): RequestId {
  return isObject(value) && Object.hasOwn(value, 'id') && isId(value.id) ? value.id : null
}

function decodeParams(value: Members): readonly unknown[] {
  const params = Object.hasOwn(value, 'params') ? value.params : []
  if (Array.isArray(params)) return params
  if (isObject(params))
    throw new InvalidParamsError('params', 'must be an array: parameters go by position.')
  throw new InvalidRequestError('params must be an array.')
}

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(id: unknown): id is RequestId {
  return id === null || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
}

/** The characters that viem reads as a code of the EntryPoint, wherever in a message they stand. */
const entryPointCode = /aa(?:1[0345]|2[0-6]|3[0-6]|4[01]|5[01]|9[0-6])/i

/** The message with the hashes and addresses shortened that hold such a code by chance, as every fortieth hash does. */
function withoutChanceCodes(message: string): string {
  return message.replace(/0x[0-9a-f]{8,}/gi, (hex) =>
    entryPointCode.test(hex) ? `${hex.slice(0, 5)}…${hex.slice(-3)}` : hex,
  )
}

/** A JSON-RPC error response, as JSON. `error.data` holds the error's own data and the rule that decided, or a hash alone. */
export function errorBody(id: RequestId, error: PurserError): string {
  const { code, rule, data, hash } = error
  const message = withoutChanceCodes(error.message)
  const details = rule === undefined ? data : { ...data, rule }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data: hash ?? details } })
}
