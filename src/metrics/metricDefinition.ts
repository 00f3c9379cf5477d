/** A metric as it is declared; see `catalogue`. */
export type MetricDefinition = {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** The text of the metrics page, a sentence. */
  readonly help: string
  /** The conclusion that an operator draws from it. */
  readonly meaning: string
  /** By label: all its values, or a sentence on what bounds them. A caller never chooses a value. */
  readonly labels: Readonly<Record<string, readonly string[] | string>>
  /** Upper bounds of a histogram, in the unit of its name. */
  readonly buckets?: readonly number[]
}

/** The values of labels that a metric needs. */
export type LabelsOf<Definition extends MetricDefinition> = {
  readonly [Label in keyof Definition['labels']]: Definition['labels'][Label] extends readonly string[]
    ? Definition['labels'][Label][number]
    : string
}
