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

/** Does a process with this id live? Zombies do not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}

/** Command lines of the processes that work in `folder` or were told of it. */
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
