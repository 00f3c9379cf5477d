import type { catalogue, MetricName } from '../../src/base/metrics/catalogue.js'

/** Metrics of Node and of the process that the board shows; prom-client makes them. */
export const processMetrics = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'nodejs_heap_size_used_bytes',
  'nodejs_eventloop_lag_p99_seconds',
] as const

type Catalogue = typeof catalogue
type HistogramName = {
  [Name in MetricName]: Catalogue[Name]['kind'] extends 'histogram' ? Name : never
}[MetricName]

/** A name that a query may select: a histogram has three series. */
type SeriesName =
  | Exclude<MetricName, HistogramName>
  | `${HistogramName}_${'bucket' | 'sum' | 'count'}`
  | (typeof processMetrics)[number]

/** The metric of a series. */
type MetricOf<Name extends SeriesName> =
  Name extends `${infer Metric extends HistogramName}_${'bucket' | 'sum' | 'count'}`
    ? Metric
    : Name extends MetricName
      ? Name
      : never

type LabelOf<Name extends SeriesName> =
  | (MetricOf<Name> extends never ? never : keyof Catalogue[MetricOf<Name>]['labels'])
  | (Name extends `${string}_bucket` ? 'le' : never)
  | 'job'
  | 'instance'

/**
 * A selector of PromQL. Name and labels are those of the catalogue: others do not compile.
 * @param matchers by label: the operator and a text, such as `=~"failed|dropped"`
 */
export function series<Name extends SeriesName>(
  name: Name,
  matchers: { readonly [Label in LabelOf<Name>]?: string } = {},
): string {
  const parts = Object.entries(matchers).map(([label, matcher]) => `${label}${matcher}`)
  return parts.length === 0 ? name : `${name}{${parts.join(', ')}}`
}
