import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { type HttpNode, startHttpNode } from './httpNode.js'

type Request = { readonly id: unknown; readonly method: string; readonly params: unknown[] }

/** A node as those of Base: what its sequencer has promised is its pending block, and has receipts already. */
export type PromisingNode = Pick<HttpNode, 'url' | 'stop'> & {
  /** From here on each new block is a promise only. */
  hold(): Promise<void>
  /** Promises that stand become blocks. */
  release(): void
}

/** In front of an anvil that mines at once: while it holds, anvil's newer blocks are shown as pending. */
export async function startPromisingNode(target: string): Promise<PromisingNode> {
  let newest: bigint | undefined

  const isHidden = (block: unknown): boolean =>
    newest !== undefined &&
    /^0x[0-9a-f]{1,16}$/.test(String(block)) &&
    BigInt(String(block)) > newest
  const hex = (number: bigint) => `0x${number.toString(16)}`

  /** A block parameter as anvil must be asked for it. */
  function shown(parameter: unknown): unknown {
    if (newest === undefined) return parameter
    if (parameter === 'latest') return hex(newest)
    return parameter === 'pending' ? 'latest' : parameter
  }

  function changed({ method, params, ...rest }: Request): Request {
    if (method !== 'eth_getLogs') return { ...rest, method, params: params.map(shown) }
    const [filter] = params as [{ readonly toBlock?: unknown }]
    const toBlock = isHidden(filter.toBlock) ? hex(newest!) : shown(filter.toBlock)
    return {
      ...rest,
      method,
      params: [filter.toBlock === undefined ? filter : { ...filter, toBlock }],
    }
  }

  const answer = async (request: Request): Promise<unknown> => {
    const { id, method, params } = request
    if (newest !== undefined && method === 'eth_blockNumber')
      return { jsonrpc: '2.0', id, result: hex(newest) }
    if (method === 'eth_getBlockByNumber' && isHidden(params[0]))
      return { jsonrpc: '2.0', id, result: null }
    const body = JSON.stringify(changed(request))
    const headers = { 'content-type': 'application/json' }
    return (await fetch(target, { method: 'POST', headers, body })).json()
  }

  const { url, stop } = await startHttpNode(async (body, response) => {
    const answers = Array.isArray(body)
      ? await Promise.all((body as Request[]).map(answer))
      : await answer(body as Request)
    response.end(JSON.stringify(answers))
  })
  return {
    url,
    stop,
    async hold() {
      newest = await anvilClient(target).getBlockNumber({ cacheTime: 0 })
    },
    release() {
      newest = undefined
    },
  }
}
