import { type Latency, median } from '../load/statistics.js'
import type { StatementTimes } from './statementTimes.js'
import type { TableSizes } from './tableSizes.js'
import type { Wal } from './walWritten.js'

/** Statements that are called less often in a minute have no p99 worth the name. */
const FEWEST_CALLS = 50
/** Minutes in which code is compiled and memory is filled. */
const WARM_UP = 3

/** What was measured in one minute. */
export type Minute = {
  readonly sent: number
  readonly included: number
  /** Accepted, and not seen on the chain at the end of the minute. */
  readonly open: number
  readonly send: Latency
  readonly inclusion: Latency
  /** CPU milliseconds per included operation, and bytes in memory. */
  readonly cpu: Readonly<Record<string, number>>
  readonly memory: Readonly<Record<string, number>>
  readonly wal: Wal
  readonly statements: StatementTimes
  readonly tables: TableSizes
}

/** One line. */
export function printMinute(
  minute: number,
  { sent, included, send: sends, inclusion, ...rest }: Minute,
): void {
  const cpu = Object.values(rest.cpu).map((ms) => ms.toFixed(2))
  const memory = Object.values(rest.memory).map((bytes) => (bytes / 1e6).toFixed(0))
  console.log(
    `${minute}: ${sent} sent, ${included} included, ${rest.open} open; send ${sends.p50.toFixed(1)} / ${sends.p99.toFixed(0)}, ` +
      `inclusion ${inclusion.p50.toFixed(0)} / ${inclusion.p99.toFixed(0)} ms; CPU ${cpu.join(' + ')} ms; ` +
      `memory ${memory.join(' + ')} MB; WAL ${(rest.wal.bytes / included).toFixed(0)} bytes, ` +
      `${(rest.wal.pages / included).toFixed(2)} pages`,
  )
}

type Row = { readonly name: string; readonly first: number; readonly last: number }

/** Medians of the first third after the warm-up, and of the last third. */
export function compareThirds(samples: readonly Minute[]): Row[] {
  const steady = samples.slice(WARM_UP)
  const third = Math.ceil(steady.length / 3)
  const row = (name: string, of: (minute: Minute) => number | undefined): Row => {
    const side = (part: readonly Minute[]) => median(part.flatMap((each) => of(each) ?? []))
    return { name, first: side(steady.slice(0, third)), last: side(steady.slice(-third)) }
  }
  const groups = Object.keys(steady[0]?.cpu ?? {})
  const often = (minute: Minute, label: string) => {
    const times = minute.statements[label]
    return times && times.calls >= FEWEST_CALLS ? times.p99 : undefined
  }
  const labels = [...new Set(steady.flatMap(({ statements }) => Object.keys(statements)))]
  const tables = Object.keys(samples.at(-1)?.tables ?? {})
  const relations = [...new Set(steady.flatMap(({ wal }) => Object.keys(wal.pagesOf)))]
  /** Bytes that a table grows by for each included operation. */
  const growth = (name: string): Row => {
    const side = (part: readonly Minute[]) => {
      const [from, to] = [part[0]?.tables[name]?.bytes ?? 0, part.at(-1)?.tables[name]?.bytes ?? 0]
      return (to - from) / part.slice(1).reduce((sum, { included }) => sum + included, 0)
    }
    const [first, last] = [steady.slice(0, third), steady.slice(-third)]
    return { name: `growth of ${name}, bytes an operation`, first: side(first), last: side(last) }
  }
  return [
    row('included a minute', ({ included }) => included),
    row('open', (minute) => minute.open),
    row('send p50, ms', (minute) => minute.send.p50),
    row('send p99, ms', (minute) => minute.send.p99),
    row('inclusion p50, ms', ({ inclusion }) => inclusion.p50),
    row('inclusion p99, ms', ({ inclusion }) => inclusion.p99),
    ...groups.map((name) => row(`CPU of ${name}, ms an operation`, ({ cpu }) => cpu[name])),
    ...groups.map((name) => row(`memory of ${name}, bytes`, ({ memory }) => memory[name])),
    row('WAL, bytes an operation', ({ wal, included }) => wal.bytes / included),
    row('WAL, whole pages an operation', ({ wal, included }) => wal.pages / included),
    ...relations.map((name) =>
      row(`share of the whole pages: ${name}`, ({ wal }) => wal.pagesOf[name]),
    ),
    ...labels.map((label) => row(`p99, ms: ${label}`, (minute) => often(minute, label))),
    ...tables.map(growth),
    ...tables.map((name) => row(`dead rows of ${name}`, (minute) => minute.tables[name]?.dead)),
  ].filter(({ first, last }) => !Number.isNaN(first + last) && (first !== 0 || last !== 0))
}
