import { type HttpNode, startHttpNode } from './httpNode.js'

type Request = { id: number; method: string; params: unknown[] }

/** Whether a parameter names a block by hash (EIP-1898). */
function namesHash(parameter: unknown): boolean {
  return typeof parameter === 'object' && parameter !== null && 'blockHash' in parameter
}

const plain = new Set([
  'eth_getBalance',
  'eth_getTransactionCount',
  'eth_getCode',
  'eth_getStorageAt',
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_call',
])

/**
 * In front of a real node: one that offers nothing but plain reads and eth_call, reads no state by
 * block hash, and lets `before` act before each HTTP request is passed on.
 */
export function startPlainNode(
  target: string,
  before: (methods: readonly string[]) => Promise<void> = async () => {},
): Promise<HttpNode> {
  const refuse = ({ id, method }: Request) => ({
    jsonrpc: '2.0',
    id,
    error: { code: -32602, message: `${method} cannot do this here` },
  })
  return startHttpNode(async (body, response) => {
    const requests = (Array.isArray(body) ? body : [body]) as Request[]
    await before(requests.map(({ method }) => method))
    const isServed = ({ method, params }: Request) => plain.has(method) && !params.some(namesHash)
    const served = requests.filter(isServed)
    const answers = served.length === 0 ? [] : await forward(target, served)
    const all = [...answers, ...requests.filter((request) => !isServed(request)).map(refuse)]
    response.end(JSON.stringify(Array.isArray(body) ? all : all[0]))
  })
}

async function forward(target: string, requests: readonly Request[]): Promise<unknown[]> {
  const answer = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(requests),
  })
  return (await answer.json()) as unknown[]
}
