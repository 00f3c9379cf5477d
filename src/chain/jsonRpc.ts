import { NodeRpcError } from './nodeErrors.js'

/** A JSON-RPC call of a node. */
export type NodeCall = { readonly method: string; readonly params: readonly unknown[] }

/** The end of one call of a batch. */
export type NodeAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: NodeRpcError }

/** The body of one exchange: a single request, or a batch. Ids are the calls' positions. */
export function encodeCalls(calls: readonly NodeCall[]): string {
  const requests = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  return JSON.stringify(requests.length === 1 ? requests[0] : requests)
}

/**
 * The answers to `count` calls in the order of the calls, whatever order the node sent them in. A
 * lone error object answers every call of a batch. Undefined when an answer is missing or doubled or
 * the text is no JSON-RPC.
 */
export function decodeAnswers(text: string, count: number): readonly NodeAnswer[] | undefined {
  const body = parse(text)
  if (!Array.isArray(body)) {
    const settled = settle(body)
    if (settled === undefined || (settled.ok && count !== 1)) return undefined
    if (settled.ok && (body as { id?: unknown }).id !== 0) return undefined
    return Array.from({ length: count }, () => settled)
  }
  const answers = new Map<number, NodeAnswer>()
  for (const item of body) {
    const settled = settle(item)
    const id: unknown = (item as { id?: unknown } | null)?.id
    if (settled === undefined || typeof id !== 'number' || answers.has(id)) return undefined
    answers.set(id, settled)
  }
  const ordered: NodeAnswer[] = []
  for (let id = 0; id < count; id++) {
    const answer = answers.get(id)
    if (answer === undefined) return undefined
    ordered.push(answer)
  }
  return ordered
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function settle(item: unknown): NodeAnswer | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  if ('error' in item && item.error !== null && item.error !== undefined) {
    const { code, message, data } = item.error as Record<string, unknown>
    return {
      ok: false,
      error: new NodeRpcError(
        typeof code === 'number' ? code : -32603,
        typeof message === 'string' ? message : 'error without a message',
        data,
      ),
    }
  }
  return 'result' in item ? { ok: true, result: item.result } : undefined
}
