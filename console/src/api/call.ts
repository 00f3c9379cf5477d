import { signal } from '@preact/signals'
import { isReader, shareToken } from './share.js'
import { adminUrl } from './site.js'

/** A request that was not answered as it should be. */
export class Trouble extends Error {
  /** HTTP status; 0 = there was no answer. */
  readonly status: number
  readonly requestId: string | undefined
  /** Milliseconds after which the service wants to be asked again. */
  readonly retryAfter: number | undefined

  constructor(status: number, message: string, requestId?: string, retryAfter?: number) {
    super(message)
    this.status = status
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

type Ask = {
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** The account in which the user acts; undefined = the instance, for operators. */
export const accountId = signal<string | undefined>(undefined)

/** Whether the newest request was answered, by whatever. */
export const isReached = signal(true)

/** Called when the service says that nobody is signed in. */
export const onSessionEnded = signal<() => void>(() => {})

/** The path of a request with its query, below the administration API. */
export function pathOf(path: string, query: Ask['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return search.size === 0 ? path : `${path}?${search}`
}

/** Paths at which 401 is about what was typed, not about the session. */
const asksForPassword = /^\/(session|session\/link|invitations\/accept)$/

/** One request to the administration API, as the user who is signed in. Throws Trouble. */
export async function call<Answer>(method: Method, path: string, ask: Ask = {}): Promise<Answer> {
  return JSON.parse(await callText(method, path, ask)) as Answer
}

/** The same; the answer as the text of its JSON. */
export async function callText(
  method: Method,
  path: string,
  { query, body, signal: abort }: Ask = {},
): Promise<string> {
  const account = accountId.peek()
  const response = await reach(`${adminUrl}${pathOf(path, query)}`, {
    method,
    headers: {
      // Also without a body: other sites cannot make a browser send this type, so the service asks for it.
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
      ...(account !== undefined && { 'purser-account': account }),
      ...(shareToken !== undefined && { authorization: `Bearer ${shareToken}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(abort && { signal: abort }),
  })
  const text = await response.text().catch(noAnswer)
  const isJson = response.headers.get('content-type')?.includes('json') === true
  if (response.ok && isJson) return text
  const requestId = response.headers.get('x-request-id') ?? undefined
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfter = Number.isFinite(seconds) ? seconds * 1_000 : undefined
  if (response.status === 401 && !isReader && !asksForPassword.test(path)) onSessionEnded.peek()()
  throw new Trouble(response.status, messageOf(text), requestId, retryAfter)
}

async function reach(url: string, request: RequestInit): Promise<Response> {
  const response = await fetch(url, {
    ...request,
    cache: 'no-store',
    credentials: shareToken === undefined ? 'same-origin' : 'omit',
  }).catch(noAnswer)
  isReached.value = true
  return response
}

function noAnswer(error: Error): never {
  if (error.name === 'AbortError') throw error
  isReached.value = false
  throw new Trouble(0, 'The service does not answer.')
}

/** What a refusal says; a proxy's may be no JSON. */
function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? NOT_JSON
  } catch {
    return NOT_JSON
  }
}

const NOT_JSON = 'The answer is not JSON.'
