import type { catalogue, LabelsOf, MetricDefinition, MetricName } from './catalogue.js'

type Catalogue = typeof catalogue
type NamesOf<Kind extends MetricDefinition['kind']> = {
  [Name in MetricName]: Catalogue[Name]['kind'] extends Kind ? Name : never
}[MetricName]
type CounterName = NamesOf<'counter'>
type HistogramName = NamesOf<'histogram'>
type GaugeName = NamesOf<'gauge'>
type NamesOfChain<Name extends MetricName> = Name extends MetricName
  ? 'chain' extends keyof Catalogue[Name]['labels']
    ? Name
    : never
  : never

type LabelsOfChain<Name extends MetricName> = Omit<LabelsOf<Catalogue[Name]>, 'chain'>

/** The counters and histograms of the catalogue, by which a process counts what has happened. */
export type Metrics = {
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Catalogue[Name]>, by?: number): void
  observe<Name extends HistogramName>(
    name: Name,
    labels: LabelsOf<Catalogue[Name]>,
    value: number,
  ): void
  /** Those of one chain. */
  ofChain(chainId: number): ChainMetrics
}

/** The metrics of one chain: its label is set. */
export type ChainMetrics = {
  count<Name extends NamesOfChain<CounterName>>(
    name: Name,
    labels: LabelsOfChain<Name>,
    by?: number,
  ): void
  observe<Name extends NamesOfChain<HistogramName>>(
    name: Name,
    labels: LabelsOfChain<Name>,
    value: number,
  ): void
}

/** A value of a gauge at the moment of a scrape. */
export type Reading = {
  [Name in GaugeName]: {
    readonly name: Name
    readonly labels: LabelsOf<Catalogue[Name]>
    readonly value: number
  }
}[GaugeName]

/** Counts nothing. */
export const noMetrics: Metrics & ChainMetrics = {
  count() {},
  observe() {},
  ofChain: () => noMetrics,
}
