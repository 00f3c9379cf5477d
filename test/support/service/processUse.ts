import { readFileSync } from 'node:fs'

/** Clock ticks of Linux in a second, the unit of /proc/PID/stat. */
const TICKS = 100

/** The processor time that the process has used, in seconds: unlike a clock, the same on a busy machine. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold spaces. Fields 14 and 15 are the times of the process and its kernel.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS
}

/** The most memory that the process has held so far, in MB. */
export function peakMemory(pid: number): number {
  const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(peak?.[1]) / 1_024
}

/** The processor seconds that the process uses while `act` runs. */
export async function processorSecondsOf(
  pid: number,
  act: () => Promise<unknown>,
): Promise<number> {
  const before = processorSeconds(pid)
  await act()
  return processorSeconds(pid) - before
}
