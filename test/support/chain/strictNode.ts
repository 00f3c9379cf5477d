import { type Hex, parseTransaction, type TransactionSerialized } from 'viem'
import { type HttpNode, startHttpNode } from './httpNode.js'

type Request = { readonly id: number; readonly method: string; readonly params?: unknown[] }
type Answer = { readonly result?: unknown; readonly error?: unknown }
type Transaction = ReturnType<typeof parseTransaction>

/** In what a node differs from the anvil behind it; all of it is as clients of public chains do it. */
export type Strictness = {
  /** The reason for which it takes no such bundle; what a test itself sends is taken. */
  readonly refuses?: (transaction: Transaction, raw: Hex) => string | undefined
  /** The reason for which it takes no such request, of tests neither. */
  readonly rejects?: (method: string, params: unknown[]) => Promise<string | undefined>
  /** Methods that it does not have. */
  readonly lacks?: RegExp
  /** An answer as this node gives it. */
  readonly change?: (method: string, params: unknown[], result: unknown) => unknown
}

/** handleOps of v0.6 and of later versions, unless for the beneficiary that tests name (`TARGET`). */
const handleOps = /^0x(1fad948c|765e827f).{64}(?!0{59}a11ce)/

function isBundle({ data = '0x' }: Transaction): boolean {
  return handleOps.test(data)
}

/** In front of anvil: a node that refuses, lacks or tells what the node of a public chain does. */
export function startStrictNode(target: string, strictness: Strictness): Promise<HttpNode> {
  const { refuses, rejects, lacks, change = (_, __, result) => result } = strictness
  const refusal = async ({
    method,
    params = [],
  }: Request): Promise<{ code: number; message: string } | undefined> => {
    if (lacks?.test(method))
      return { code: -32601, message: `the method ${method} does not exist/is not available` }
    const rejected = await rejects?.(method, params)
    if (rejected !== undefined) return { code: -32000, message: rejected }
    if (method !== 'eth_sendRawTransaction' || refuses === undefined) return undefined
    const raw = params[0] as Hex
    const transaction = parseTransaction(raw as TransactionSerialized)
    if (!isBundle(transaction)) return undefined
    const message = refuses(transaction, raw)
    return message === undefined ? undefined : { code: -32000, message }
  }
  const answer = async (request: Request): Promise<Answer> => {
    const { id, method, params = [] } = request
    const error = await refusal(request)
    if (error !== undefined) return Object.assign({ jsonrpc: '2.0', id }, { error })
    const got = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    const answered = (await got.json()) as Answer
    if (!('result' in answered)) return answered
    return { ...answered, result: change(method, params, answered.result) }
  }
  return startHttpNode(async (body, response) => {
    const answers = Array.isArray(body)
      ? await Promise.all((body as Request[]).map(answer))
      : await answer(body as Request)
    response.end(JSON.stringify(answers))
  })
}
