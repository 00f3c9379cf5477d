import { type HttpNode, startHttpNode } from './httpNode.js'

/** In front of a real node: `change` sees each answer, and how many travel together, before it is passed on. */
export function startChangedNode(
  target: string,
  change: (
    method: string,
    params: unknown[],
    answer: { result?: unknown },
    batch: number,
  ) => unknown,
): Promise<HttpNode> {
  return startHttpNode(async (body, response) => {
    const requests = (Array.isArray(body) ? body : [body]) as {
      method: string
      params: unknown[]
    }[]
    const got = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(requests),
    })
    const answers = (await got.json()) as { result?: unknown }[]
    const all = answers.map((answer, at) => {
      const { method = '', params = [] } = requests[at] ?? {}
      return change(method, params, answer, requests.length)
    })
    response.end(JSON.stringify(Array.isArray(body) ? all : all[0]))
  })
}
