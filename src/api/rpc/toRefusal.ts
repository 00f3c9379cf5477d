import type { Address } from 'viem'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { OperationEndedError, OperationTimeoutError } from '../../base/errors/operationErrors.js'
import type { PurserError } from '../../base/errors/purserError.js'
import type { NewRefusal } from '../../records/refusals.js'
import type { KeyOwner } from '../../tenants/keyOwner.js'
import { type MethodName, methods } from '../methods/methodList.js'

/** A call of a method that was answered with an error. */
type RefusedCall = {
  readonly name: MethodName
  readonly params: readonly unknown[]
  readonly error: PurserError
  readonly chainId: number
  readonly identity: Pick<KeyOwner, 'keyId' | 'appId' | 'accountId'>
  readonly requestId: string
}

/** The most characters of parameters that are kept, and of a message. */
const MOST_REQUEST = 16_384
const MOST_MESSAGE = 4_096

/**
 * The record of a refused call; undefined where nobody will ask for it: the call is about no operation, or
 * came too often. Everything is taken as the caller sent it, since it may be what is wrong.
 */
export function toRefusal({
  name,
  params,
  error,
  chainId,
  identity,
  requestId,
}: RefusedCall): NewRefusal | undefined {
  if (error instanceof RateLimitError) return undefined
  // The operation was accepted: its own record says what became of it.
  if (error instanceof OperationTimeoutError || error instanceof OperationEndedError)
    return undefined
  if (methods[name].inputs[0]?.name !== 'operation') return undefined
  const [operation, entryPoint] = params
  const request = JSON.stringify(params)
  return {
    at: new Date(),
    account_id: identity.accountId,
    app_id: identity.appId,
    key_id: identity.keyId,
    chain_id: BigInt(chainId),
    method: name,
    entry_point: addressIn(entryPoint),
    sender: addressIn(memberOf(operation, 'sender')),
    nonce: nonceIn(memberOf(operation, 'nonce')),
    code: error.code,
    rule: error.rule ?? null,
    // PostgreSQL stores no NUL.
    message: error.message.slice(0, MOST_MESSAGE).replaceAll('\0', ''),
    data: error.data === undefined ? null : boundedJson(error.data),
    request: request.length > MOST_REQUEST ? null : request,
    request_id: requestId,
  }
}

/** The escapes that `JSON.stringify` writes and no text of PostgreSQL can hold: of U+0000 and of half a surrogate pair. */
const unreadable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f]..)/g

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
}

function addressIn(value: unknown): Address | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
    ? (value.toLowerCase() as Address)
    : null
}

function nonceIn(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value) : null
}

/** The data as JSON that PostgreSQL can take apart; callers name some of its text, such as the member that is unknown. */
function boundedJson(data: object): string | null {
  const json = JSON.stringify(data).replace(unreadable, '$1\ufffd')
  return json.length > MOST_REQUEST ? null : json
}
