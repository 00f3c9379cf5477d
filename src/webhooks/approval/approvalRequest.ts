import { InvalidParamsError } from '../../base/errors/requestErrors.js'
import type { OutboundRequest } from '../../base/outbound/guardedRequest.js'
import { version } from '../../base/version.js'
import { signatureHeaders } from '../signing/signature.js'

/** The data that a client sends along for the app's webhooks. */
export type WebhookData = Readonly<Record<string, unknown>>

export type ApprovalRequestInput = {
  readonly url: string
  readonly requestType: 'GET' | 'POST'
  /** The signing secrets `whsec_…`, the newest first. */
  readonly secrets: readonly string[]
  readonly decisionId: string
  readonly webhookData: WebhookData
  /** The members that a webhook with the extended payload gets in addition to the data. */
  readonly extension: Readonly<Record<string, unknown>> | undefined
  /** Unix seconds */
  readonly timestamp: number
}

/**
 * The approval call as bytes. By POST it has the body `{"data":<webhookData>}`, with the
 * extension's members after it where there is one, and the body is signed. By GET it has the
 * registered URL's own query, then the data, and everything behind `?` is signed. Throws
 * InvalidParamsError when the data is too long for a query.
 */
export function approvalRequest(input: ApprovalRequestInput): OutboundRequest {
  const { requestType, secrets, decisionId, timestamp, webhookData, extension } = input
  const url = new URL(input.url)
  const sign = (content: string) => ({
    ...signatureHeaders(secrets, decisionId, timestamp, content),
    'user-agent': `Purser/${version}`,
    accept: 'application/json',
    'accept-encoding': 'identity',
  })
  if (requestType === 'POST') {
    const body = JSON.stringify({ data: webhookData, ...extension })
    const headers = { 'content-type': 'application/json', ...sign(body) }
    return { url, method: 'POST', headers, body: Buffer.from(body) }
  }
  url.search = [url.search.slice(1), queryOf(webhookData, url.searchParams)]
    .filter((part) => part !== '')
    .join('&')
  return { url, method: 'GET', headers: sign(url.search.slice(1)), body: undefined }
}

const MAX_QUERY_BYTES = 8192

/**
 * The query of a call by GET: every scalar of webhookData, then those of `webhookData.params` (the
 * only ones that receivers of the original service got), each under its name, and last `data`, the
 * whole as JSON. A name that the registered URL uses keeps its value there: a caller must not speak
 * in the app's name. No other key of webhookData has a meaning.
 */
function queryOf(webhookData: WebhookData, registered: URLSearchParams): string {
  const { params } = webhookData
  const nested = typeof params === 'object' && params !== null && !Array.isArray(params)
  const scalars = new Map([...scalarsOf(webhookData), ...(nested ? scalarsOf(params) : [])])
  const pairs = [...scalars]
    .filter(([name]) => name !== 'data' && !registered.has(name))
    .concat([['data', JSON.stringify(webhookData)]])
  const query = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
  if (query.length > MAX_QUERY_BYTES) {
    throw new InvalidParamsError(
      'sponsorshipInfo.webhookData',
      `is ${query.length} bytes long as a query and the webhook is called by GET, which carries ${MAX_QUERY_BYTES} at most. Shorten it or register the webhook with requestType POST.`,
    )
  }
  return query
}

function scalarsOf(source: object): [string, string][] {
  return Object.entries(source)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => [name, String(value)])
}

/** The text encoded for a URL; a lone surrogate, which no URL can hold, becomes U+FFFD. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}
