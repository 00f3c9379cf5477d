import type { LoadFigures } from './measureLoad.js'
import type { Latency } from './statistics.js'

/** The figures as lines for people. */
export function printReport(title: string, figures: LoadFigures): void {
  console.log(`\n${title}`)
  for (const [name, value] of rowsOf(figures)) console.log(`  ${name.padEnd(34)} ${value}`)
}

function rowsOf(figures: LoadFigures): readonly (readonly [string, string])[] {
  return [
    ['accepted operations/s', figures.acceptedPerSecond.toFixed(0)],
    ['included operations/s', figures.includedPerSecond.toFixed(0)],
    ['operations per bundle', figures.operationsPerBundle.toFixed(1)],
    ['send, under load', latency(figures.send)],
    ['send, one client', latency(figures.sendAlone)],
    ['inclusion, under load', latency(figures.inclusion)],
    ['estimate, one client', latency(figures.estimate)],
    ['receipt, one client', latency(figures.receipt)],
    ...(figures.sponsor ? [['sponsor, under load', latency(figures.sponsor)] as const] : []),
    ...Object.entries(figures.cpuPerOperation).map(
      ([name, ms]) => [`CPU per operation, ${name}`, `${ms.toFixed(2)} ms`] as const,
    ),
    ...Object.entries(figures.residentBytes).map(
      ([name, bytes]) => [`resident memory, ${name}`, `${(bytes / 1e6).toFixed(0)} MB`] as const,
    ),
    ...Object.entries(figures.work ?? {}).map(
      ([name, count]) => [`per operation: ${name}`, count.toFixed(3)] as const,
    ),
  ]
}

function latency({ p50, p95, p99 }: Latency): string {
  return `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
}
