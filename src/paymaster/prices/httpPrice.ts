import type { OutboundClient } from '../../base/outbound/guardedRequest.js'
import type { PriceSourceDefinition } from '../../chain/definition/tokenDefinition.js'
import { parseFixed18 } from '../../base/parseFixed18.js'
import type { PriceOrReason } from './round.js'

const DEADLINE_MS = 2_000

type Http = Extract<PriceSourceDefinition, { kind: 'http' }>

/** The member of a JSON document at `path`, a decimal number as text or as number. */
export function readPrice(body: string, path: readonly string[]): PriceOrReason {
  const where = path.join('.')
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return { reason: 'answers no JSON' }
  }
  for (const name of path) {
    const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    if (!isHolder) return { reason: `answers nothing at ${where}` }
    value = (value as Record<string, unknown>)[name]
  }
  // Without exponent; a JSON number has no more digits than these.
  const text = typeof value === 'number' ? value.toFixed(18) : value
  const price = typeof text === 'string' ? parseFixed18(text) : undefined
  return price === undefined ? { reason: `answers no price at ${where}` } : { price }
}

/** The whole tokens per native coin, 18 decimals, from a server that answers within two seconds. */
export async function perNativeByHttp(
  client: OutboundClient,
  { url, path }: Http,
): Promise<PriceOrReason> {
  const headers = { accept: 'application/json' }
  const request = { url, method: 'GET', headers, body: undefined } as const
  const { response } = await client.request(request, AbortSignal.timeout(DEADLINE_MS))
  const answer = response.ok ? readPrice(response.body, path) : { reason: response.reason }
  return answer.reason === undefined ? answer : { reason: `${url.host} ${answer.reason}` }
}
