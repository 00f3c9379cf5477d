import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandLineOf, endProcess } from '../../../src/cli/devnet/processIdentity.js'
import { isAlive } from '../../support/service/processes.js'

/** Living processes without a command line, as threads of the kernel are; there may be none to see. */
function nameless(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isAlive(pid) && commandLineOf(pid) === undefined)
}

describe('endProcess', () => {
  test('returns when the process is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    await once(child, 'spawn')
    const pid = child.pid as number
    await endProcess({ pid, commandLine: commandLineOf(pid) as string })
    expect(isAlive(pid)).toBe(false)
  })

  test('leaves the one that has its id now alone', async () => {
    await endProcess({ pid: process.pid, commandLine: 'anvil --port 1' })
    for (const pid of nameless().slice(0, 3)) {
      await endProcess({ pid, commandLine: 'anvil --port 1' })
      expect(isAlive(pid)).toBe(true)
    }
  })
})
