/** The parts of the served OpenRPC document that the explorer shows. */
export type RpcMethod = {
  readonly name: string
  readonly summary: string
  readonly params: readonly { readonly name: string; readonly required: boolean }[]
  readonly errors: readonly { readonly code: number; readonly message: string }[]
  readonly examples: readonly {
    readonly params: readonly { readonly value: unknown }[]
    readonly result: { readonly value: unknown }
  }[]
  readonly 'x-scope': string
  readonly 'x-cost': number
}

export type RpcDocument = { readonly methods: readonly RpcMethod[] }

type Operation = {
  readonly summary?: string
  readonly requestBody?: unknown
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, unknown>> }>
  >
}

/** The parts of the served OpenAPI document that the explorer shows. */
export type AdminDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export type DescribedRoute = {
  /** `GET /apps/{appId}` */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Names in the path and of the query. */
  readonly inPath: readonly string[]
  readonly inQuery: readonly string[]
  /** What it answers: one value of JSON, one in each line, or events for minutes. */
  readonly format: 'json' | 'lines' | 'events'
}

/** The routes of the administration, as its document has them. */
export function routesOf(document: AdminDocument | undefined): readonly DescribedRoute[] {
  return Object.entries(document?.paths ?? {}).flatMap(([whole, operations]) => {
    const path = whole.replace(/^\/admin\/v1/, '')
    return Object.entries(operations).map(
      ([verb, { summary = '', parameters = [], responses }]) => ({
        name: `${verb.toUpperCase()} ${path}`,
        method: verb.toUpperCase(),
        path,
        summary,
        inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
        inQuery: parameters.flatMap((each) => (each.in === 'query' ? [each.name] : [])),
        format: formatOf(responses),
      }),
    )
  })
}

function formatOf(responses: Operation['responses'] = {}): DescribedRoute['format'] {
  const types = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content))
  if (types.includes('text/event-stream')) return 'events'
  return types.includes('application/x-ndjson') ? 'lines' : 'json'
}
