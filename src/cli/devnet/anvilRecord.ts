import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** The anvil that was last started for a chain of a data directory. */
export type AnvilRecord = {
  readonly pid: number
  readonly commandLine: string
  /** undefined until it listens. */
  readonly port: number | undefined
  /** What it was started with that cannot be changed while it runs. */
  readonly settings: string
}

/** undefined when there is none, or none that can be read: then there is nothing to adopt. */
export function readRecord(file: string): AnvilRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Partial<AnvilRecord>
    const { pid, commandLine, port, settings } = record
    const isWhole = Number.isInteger(pid) && typeof commandLine === 'string'
    return isWhole && typeof settings === 'string'
      ? { pid: pid!, commandLine: commandLine!, port, settings }
      : undefined
  } catch {
    return undefined
  }
}

export function writeRecord(file: string, record: AnvilRecord): void {
  writeFileSync(`${file}.next`, JSON.stringify(record), { mode: 0o600 })
  renameSync(`${file}.next`, file)
}
