import type { ChainMetrics, Metrics } from '../../src/base/metrics/metrics.js'

/** Metrics that hand each count to `record`. */
export function recordMetrics(
  record: (labels: Readonly<Record<string, string>>, by: number, name: string) => void,
): Metrics & ChainMetrics {
  const count = (name: string, labels: object, by = 1) => record({ ...labels }, by, name)
  const metrics: Metrics & ChainMetrics = { count, observe() {}, ofChain: () => metrics }
  return metrics
}
