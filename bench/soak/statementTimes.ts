import { closeSync, openSync, readSync } from 'node:fs'
import { sql } from 'kysely'
import type { Database } from '../../src/db/database.js'
import { latencyOf, type Latency } from '../load/statistics.js'

export type StatementTimes = Readonly<Record<string, Latency & { readonly calls: number }>>

/** Bytes of the log that are read at once. */
const PIECE = 1 << 20
/** Characters that tell statements apart. */
const LABEL_LENGTH = 80

/**
 * Milliseconds of each statement, from the server's log: pg_stat_statements knows no percentiles. Each call returns those
 * since the one before.
 */
export async function followStatements(
  database: Database,
  log: string,
): Promise<() => Promise<StatementTimes>> {
  // The statement's id and its step: parsing and binding are logged as well.
  await sql`alter system set log_line_prefix = '%Q %i|'`.execute(database)
  await sql`alter system set log_duration = on`.execute(database)
  await sql`select pg_reload_conf()`.execute(database)
  let [at, rest] = [0, '']

  function takeLines(): string[] {
    const file = openSync(log, 'r')
    try {
      const piece = Buffer.alloc(PIECE)
      for (;;) {
        const length = readSync(file, piece, 0, PIECE, at)
        if (length === 0) break
        at += length
        rest += piece.toString('latin1', 0, length)
      }
    } finally {
      closeSync(file)
    }
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    return lines
  }

  return async () => {
    const { rows } = await sql<{ id: string; query: string }>`
      select queryid::text as id, query from pg_stat_statements`.execute(database)
    const texts = new Map(
      rows.map(({ id, query }) => [id, query.replace(/\s+/g, ' ').slice(0, LABEL_LENGTH)]),
    )
    const times = new Map<string, number[]>()
    for (const line of takeLines()) {
      const [, id, step, ms] = /^(-?\d+) (\w+)[^|]*\|LOG: +duration: ([\d.]+) ms$/.exec(line) ?? []
      if (id === undefined || step === undefined || step === 'PARSE' || step === 'BIND') continue
      const label = texts.get(id) ?? step
      const known = times.get(label)
      if (known) known.push(Number(ms))
      else times.set(label, [Number(ms)])
    }
    return Object.fromEntries(
      [...times].map(([label, all]) => [label, { ...latencyOf(all), calls: all.length }]),
    )
  }
}
