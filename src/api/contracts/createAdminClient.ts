import type { AdminRoutes } from './adminRoutes.generated.js'

/** The routes whose answer is one JSON value. */
export type AdminRouteName = {
  [Name in keyof AdminRoutes]: AdminRoutes[Name] extends { format: string } ? never : Name
}[keyof AdminRoutes]

/** The routes that answer in lines. */
export type AdminLinesName = {
  [Name in keyof AdminRoutes]: AdminRoutes[Name] extends { format: 'lines' } ? Name : never
}[keyof AdminRoutes]

/** What a route takes: `params` of its path, `query` and `body`, each where it has one. */
export type AdminRequest<Name extends keyof AdminRoutes> = AdminRoutes[Name]['request'] & {
  readonly signal?: AbortSignal
}

/** What a route answers; of one in lines, each line. */
export type AdminAnswer<Name extends keyof AdminRoutes> = AdminRoutes[Name]['answer']

/** The request is left out where nothing in it is obligatory. */
type Arguments<Name extends keyof AdminRoutes> =
  Record<never, never> extends AdminRequest<Name>
    ? [request?: AdminRequest<Name>]
    : [request: AdminRequest<Name>]

export type AdminClientOptions = {
  /** Where the service answers, without /admin/v1: `https://purser.example`, or `''` on a page of its own origin. */
  readonly url: string
  /** An account's or the operator's; absent = the cookie of the user who is signed in. */
  readonly token?: string
  /** The account in which a user who is signed in acts, or into which the operator looks. */
  readonly account?: string
  readonly fetch?: typeof fetch
}

/** The administration API as its OpenAPI document has it: amounts of wei are decimal text, times ISO 8601. */
export type AdminClient = {
  /** Throws AdminError for each refusal, and what `fetch` throws where there is no answer. */
  call<Name extends AdminRouteName>(
    name: Name,
    ...request: Arguments<Name>
  ): Promise<AdminAnswer<Name>>
  /** The lines of an answer as they arrive. Throws as `call` does. */
  lines<Name extends AdminLinesName>(
    name: Name,
    ...request: Arguments<Name>
  ): AsyncGenerator<AdminAnswer<Name>, void>
}

/** A client of the administration API, for browsers and for Node. It keeps nothing and tries nothing again. */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const ask = async (name: string, request: AnyRequest = {}): Promise<Response> => {
    const [method = '', path = ''] = name.split(' ')
    const response = await (options.fetch ?? fetch)(urlOf(options.url, path, request), {
      ...bodyOf(method, request),
      method,
      headers: headersOf(options),
      ...(request.signal && { signal: request.signal }),
    })
    if (!response.ok) throw await AdminError.of(response)
    return response
  }
  return {
    call: async (name, ...[request]) =>
      (await ask(name, request)).json() as Promise<AdminAnswer<typeof name>>,
    async *lines(name, ...[request]) {
      const { body } = await ask(name, request)
      if (body !== null) for await (const line of linesOf(body)) yield JSON.parse(line)
    },
  }
}

/** The request of any route: what `AdminRequest` says of one is not known here any more. */
type AnyRequest = {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

function urlOf(url: string, path: string, { params = {}, query = {} }: AnyRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value))
  const asked = search.size > 0 ? `?${search}` : ''
  return `${url.replace(/\/+$/, '')}/admin/v1${filled}${asked}`
}

function headersOf({ token, account }: AdminClientOptions): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(account !== undefined && { 'purser-account': account }),
  }
}

function bodyOf(method: string, { body = {} }: AnyRequest): { readonly body?: string } {
  return method === 'GET' ? {} : { body: JSON.stringify(body) }
}

/** A stream of Node or of a browser, some of which are no async iterables. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines.filter((line) => line !== '')
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel()
  }
}

/** A refusal of the administration API, or an answer that is none of its own, such as a proxy's. */
export class AdminError extends Error {
  /** The HTTP status. */
  readonly status: number
  /** Figures behind the refusal, by name, where it has any. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** The id under which the log of the service has the request. */
  readonly requestId: string | undefined
  /** Seconds after which to ask again, of refusals that pass. */
  readonly retryAfter: number | undefined

  private constructor(response: Response, { message, data }: Failure) {
    super(message ?? `The answer has the HTTP status ${response.status} and is not Purser's`)
    this.name = 'AdminError'
    this.status = response.status
    this.data = data
    this.requestId = response.headers.get('x-request-id') ?? undefined
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isNaN(seconds) ? undefined : seconds
  }

  static async of(response: Response): Promise<AdminError> {
    return new AdminError(response, failureIn(await response.text()))
  }
}

type Failure = {
  readonly message?: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** The members of a failure; none where the text is something else. */
function failureIn(text: string): Failure {
  try {
    const value: unknown = JSON.parse(text)
    const isFailure =
      typeof value === 'object' &&
      value !== null &&
      'message' in value &&
      typeof value.message === 'string'
    return isFailure ? (value as Failure) : {}
  } catch {
    return {}
  }
}
