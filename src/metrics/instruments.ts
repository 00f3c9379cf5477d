import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { catalogue, type MetricName } from './catalogue.js'
import type { LabelsOf, MetricDefinition } from './metricDefinition.js'

type Catalogue = typeof catalogue
type NamesOf<Kind extends MetricDefinition['kind']> = {
  [Name in MetricName]: Catalogue[Name]['kind'] extends Kind ? Name : never
}[MetricName]
type CounterName = NamesOf<'counter'>
type HistogramName = NamesOf<'histogram'>
type GaugeName = NamesOf<'gauge'>

/** A value of a gauge at the moment of a scrape. */
export type Reading = {
  [Name in GaugeName]: {
    readonly name: Name
    readonly labels: LabelsOf<Catalogue[Name]>
    readonly value: number
  }
}[GaugeName]

/** The metrics of the catalogue by which a process counts; names and labels are checked by types. */
export type Instruments = {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Catalogue[Name]>, by?: number): void
  observe<Name extends HistogramName>(
    name: Name,
    labels: LabelsOf<Catalogue[Name]>,
    value: number,
  ): void
  /** Gives all gauges these values and no others. */
  set(readings: readonly Reading[]): void
  /** Lets the counters and histograms of a chain begin at 0, as far as their labels are lists. */
  startChain(chainId: number): void
}

/** Makes every metric of the catalogue in `registry`. Those without a chain begin at 0. */
export function createInstruments(registry: Registry): Instruments {
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

  return {
    count: (name, labels, by = 1) => counters.get(name)?.inc({ ...labels }, by),
    observe: (name, labels, value) => histograms.get(name)?.observe({ ...labels }, value),
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
