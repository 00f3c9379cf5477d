/** The tabs of the screen, each a list of its own. */
export const views = [
  { name: 'All', view: '', list: 'operations', outcome: undefined },
  { name: 'In flight', view: 'in-flight', list: 'operations', outcome: 'inFlight' },
  { name: 'Included', view: 'included', list: 'operations', outcome: 'included' },
  { name: 'Failed', view: 'failed', list: 'operations', outcome: 'failed' },
  { name: 'Dropped', view: 'dropped', list: 'operations', outcome: 'dropped' },
  { name: 'Refused', view: 'refused', list: 'refusals', outcome: undefined },
  { name: 'Not sponsored', view: 'not-sponsored', list: 'decisions', outcome: undefined },
] as const

export type View = (typeof views)[number]
export type ListName = View['list']

/** The view that an address asks for; the open panel decides where the address does not say. */
export function viewOf(name: string | null, list: string): View {
  const asked = views.find(({ view }) => view === name)
  const fitting = views.find((each) => each.list === list)
  return asked ?? fitting ?? views[0]
}

/** The filters that each list takes, in the order in which they are offered. */
export const filtersOf: Readonly<Record<ListName, readonly FilterName[]>> = {
  operations: ['appId', 'chainId', 'sender', 'code'],
  refusals: ['appId', 'chainId', 'sender', 'code', 'rule', 'method'],
  decisions: ['appId', 'chainId', 'sender', 'code'],
}

export const filterNames = {
  appId: 'App',
  chainId: 'Chain',
  sender: 'Sender',
  code: 'Code',
  rule: 'Rule',
  method: 'Method',
} as const

export type FilterName = keyof typeof filterNames

/** The filter of refusals for what decided: the number of a JSON-RPC error is their code, a name such as AA25 their rule. */
export function refusalFilterOf(code: string): 'code' | 'rule' {
  return /^-?\d+$/.test(code) ? 'code' : 'rule'
}

/** The filter that a text is for, and its value there: addresses are senders, what is no method is a code, in capitals. */
export function filterOf(
  text: string,
  names: readonly FilterName[],
): readonly [name: FilterName, value: string] {
  if (/^0x/i.test(text)) return ['sender', text]
  if (names.includes('method') && /^[a-z]+_/.test(text)) return ['method', text]
  return [names.includes('rule') ? refusalFilterOf(text) : 'code', text.toUpperCase()]
}

/** The query of the API for a view with the filters of an address. */
export function queryOf(
  { list, outcome }: View,
  search: URLSearchParams,
  from?: string,
): Readonly<Record<string, string>> {
  const filters = filtersOf[list].flatMap((name): readonly [string, string][] => {
    const value = search.get(name)
    if (value === null || value === '') return []
    if (name !== 'code' && name !== 'rule') return [[name, value]]
    // A tab takes over the filters of another one, whose codes are the rules of refusals.
    return [[list === 'refusals' ? refusalFilterOf(value) : name, value.toUpperCase()]]
  })
  return {
    ...Object.fromEntries(filters),
    ...(outcome !== undefined && { outcome }),
    ...(from !== undefined && { from }),
    ...(list === 'decisions' && { sponsored: 'false' }),
  }
}

/** Times to look back, by their name in the address; in hours. */
export const ranges = [
  { name: '', text: 'Any time', hours: undefined },
  { name: '1h', text: 'Last hour', hours: 1 },
  { name: '24h', text: 'Last 24 hours', hours: 24 },
  { name: '7d', text: 'Last 7 days', hours: 168 },
  { name: '30d', text: 'Last 30 days', hours: 720 },
] as const

/** The beginning of a range that ends at `now`; undefined = no beginning. */
export function beginOf(range: string | null, now: number): string | undefined {
  const hours = ranges.find(({ name }) => name === range)?.hours
  return hours === undefined ? undefined : new Date(now - hours * 3_600_000).toISOString()
}
