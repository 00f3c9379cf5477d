import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'
import { catalogue, type MetricDefinition } from '../base/metrics/catalogue.js'
import type { Metrics, Reading } from '../base/metrics/metrics.js'
import { schemaVersion, version } from '../base/version.js'

/** The metrics of the process, and the page that shows them. */
export type MetricsPage = Metrics & {
  /** Lets the counters of a chain begin at 0, so that the first event is a rise. */
  startChain(chainId: number): void
  /** Sets the source of the gauges, which is read at each scrape. */
  readWith(read: () => Promise<readonly Reading[]>): void
  /** The text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
}

/** Sums of prom-client's that end as counters do and are none; the same names without `_total` have them by kind. */
const misnamedGauges = ['resources', 'handles', 'requests'].map(
  (kind) => `nodejs_active_${kind}_total`,
)

/** The other processes of a group that shares one listener, as one of them sees them. */
export type Siblings = {
  /** Of this process; its metrics have the label `process` with it. */
  readonly number: number
  /** Their metrics, one list for each. */
  readOthers(): Promise<readonly object[]>
  /** Sets what this process answers when another one asks. */
  answerWith(read: () => Promise<readonly object[]>): void
}

const buildInfo: Reading = {
  name: 'purser_build_info',
  labels: { version, schema: schemaVersion },
  value: 1,
}

/** @param siblings whose metrics are on the same page */
export function createMetrics(siblings?: Siblings): MetricsPage {
  const registry = new Registry()
  if (siblings) registry.setDefaultLabels({ process: String(siblings.number) })
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  const { set, ...counting } = createInstruments(registry)
  let readGauges = async (): Promise<readonly Reading[]> => []
  const readAll = async (): Promise<void> => set([...(await readGauges()), buildInfo])
  const readOwn = async (): Promise<readonly object[]> => {
    await readAll()
    return registry.getMetricsAsJSON()
  }
  set([buildInfo])
  siblings?.answerWith(readOwn)

  return {
    ...counting,
    readWith: (read) => {
      readGauges = read
    },
    async text() {
      if (siblings === undefined) {
        await readAll()
        return registry.metrics()
      }
      const [own, others] = await Promise.all([readOwn(), siblings.readOthers()])
      return AggregatorRegistry.aggregate([own, ...others]).metrics()
    },
    contentType: registry.contentType,
  }
}

/** By which a process counts; `set` gives all gauges these values and no others. */
type Instruments = Omit<MetricsPage, 'readWith' | 'text' | 'contentType'> & {
  set(readings: readonly Reading[]): void
}

type Labels = Readonly<Record<string, string>>

/** Makes every metric of the catalogue in `registry`. Those without a chain begin at 0. */
function createInstruments(registry: Registry): Instruments {
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const gauges = new Map<string, Gauge>()
  for (const [name, { kind, help, labels, ...more }] of entries) {
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] }
    if (kind === 'counter') counters.set(name, new Counter(options))
    else if (kind === 'gauge') gauges.set(name, new Gauge(options))
    else histograms.set(name, new Histogram({ ...options, buckets: [...(more.buckets ?? [])] }))
  }

  const begin = (chain: string | undefined): void => {
    for (const [name, { labels }] of entries) {
      if ('chain' in labels !== (chain !== undefined)) continue
      for (const values of combinations(labels, chain)) {
        counters.get(name)?.inc(values, 0)
        histograms.get(name)?.zero(values)
      }
    }
  }
  begin(undefined)

  const count = (name: string, labels: Labels, by = 1) => counters.get(name)?.inc({ ...labels }, by)
  const observe = (name: string, labels: Labels, value: number) =>
    histograms.get(name)?.observe({ ...labels }, value)
  return {
    count,
    observe,
    ofChain(chainId) {
      const chain = String(chainId)
      return {
        count: (name, labels, by) => count(name, { ...labels, chain }, by),
        observe: (name, labels, value) => observe(name, { ...labels, chain }, value),
      }
    },
    set(readings) {
      for (const gauge of gauges.values()) gauge.reset()
      for (const { name, labels, value } of readings) gauges.get(name)?.set({ ...labels }, value)
    },
    startChain: (chainId) => begin(String(chainId)),
  }
}

const entries: readonly (readonly [string, MetricDefinition])[] = Object.entries(catalogue)

/** Every set of labels that is known before an event; none where a label's values are not a list. */
function combinations(
  labels: MetricDefinition['labels'],
  chain: string | undefined,
): Record<string, string>[] {
  let sets: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    const list = label === 'chain' && chain !== undefined ? [chain] : values
    if (typeof list === 'string') return []
    sets = sets.flatMap((set) => list.map((value) => ({ ...set, [label]: value })))
  }
  return sets
}
