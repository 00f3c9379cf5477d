import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.js'
import { descendantsOf, isAlive } from './processes.js'

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) kill(pid)
  await until(async () => !pids.some(isAlive))
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Kills the embedded database of a data folder with all its processes, as if memory ran out. */
export async function killDatabase(dataFolder: string): Promise<void> {
  const pid = Number.parseInt(read(join(dataFolder, 'postgres/cluster/postmaster.pid')) ?? '', 10)
  if (pid > 0 && read(`/proc/${pid}/comm`)?.trim() === 'postgres')
    await killAll([pid, ...descendantsOf(pid)])
}

/** Kills the embedded chain of a data folder. */
export async function killChain(dataFolder: string): Promise<void> {
  const record = read(join(dataFolder, 'chain-31337.process.json'))
  const { pid } = record ? (JSON.parse(record) as { pid: number }) : { pid: 0 }
  if (pid > 0 && read(`/proc/${pid}/comm`)?.trim() === 'anvil') await killAll([pid])
}
