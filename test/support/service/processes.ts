import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Process ids of all descendants of `pid`. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // It ended while we were reading.
    }
  }
  const found = [pid]
  for (let index = 0; index < found.length; index++) {
    for (const [child, parent] of parents) if (parent === found[index]) found.push(child)
  }
  return found.slice(1)
}

/** A process and no later one: after some 32,000 others its id comes again. */
export type Process = { readonly pid: number; readonly startedAt: string | undefined }

/** The fields of a process behind its name, of proc(5); undefined = there is none. */
function fieldsOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/** The variables that a process was started with, as `NAME=value`; none when it is gone. */
export function variablesOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** The process that has this id now. */
export function processOf(pid: number): Process {
  return { pid, startedAt: fieldsOf(pid)?.[19] }
}

/** Does this process live, or one with this id? Zombies do not. */
export function isAlive(process: number | Process): boolean {
  const { pid, startedAt } = typeof process === 'number' ? processOf(process) : process
  const fields = fieldsOf(pid)
  return fields !== undefined && fields[0] !== 'Z' && fields[19] === startedAt
}

/** Command lines of the processes that work in `folder` or have it among their arguments. */
export function processesOn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const isOn =
          commandLine.includes(folder) || readlinkSync(`/proc/${name}/cwd`).startsWith(folder)
        return isOn ? [commandLine] : []
      } catch {
        // It ended while we were reading, or is a zombie.
        return []
      }
    })
}
