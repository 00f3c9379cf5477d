import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverPid } from '../../src/db/embedded/clusterServer.js'
import { descendantsOf } from '../../test/support/service/processes.js'

/** What a group of processes has used: seconds of CPU so far by process, and bytes in memory now. */
export type Usage = {
  readonly cpuSeconds: ReadonlyMap<number, number>
  readonly residentBytes: number
}

/** Seconds of CPU. Sessions of a database come and go: what an ended one used is not known. */
export function cpuBetween(before: Usage, after: Usage): number {
  return [...after.cpuSeconds].reduce(
    (sum, [pid, seconds]) => sum + seconds - (before.cpuSeconds.get(pid) ?? 0),
    0,
  )
}

/** Linux counts CPU time in ticks of a hundredth of a second on every platform that Node supports. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

/** CPU and memory of `pids`, from the operating system's accounting. Ended ones count nothing. */
export function usageOf(pids: readonly number[]): Usage {
  const cpuSeconds = new Map<number, number>()
  let pages = 0
  for (const pid of pids) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      cpuSeconds.set(pid, (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND)
      pages += Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    } catch {
      // It ended while we were reading.
    }
  }
  return { cpuSeconds, residentBytes: pages * PAGE_BYTES }
}

/** The embedded PostgreSQL server of a data folder, and its sessions. */
export function postgresOn(dataFolder: string): number[] {
  const server = serverPid(join(dataFolder, 'postgres', 'cluster'))
  return server === undefined ? [] : [server, ...descendantsOf(server)]
}
