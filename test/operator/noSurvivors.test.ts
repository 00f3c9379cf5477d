import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test as base, describe, expect } from 'vitest'
import { result } from '../support/http/jsonRpc.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import {
  descendantsOf,
  isAlive,
  type Process,
  processesOn,
  processOf,
} from '../support/service/processes.js'
import {
  makeDataFolder,
  removeDataFolder,
  spawnCli,
  startPurser,
  startService,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/** A data folder for each test: all run at once, because they mostly wait for watchdogs to give up. */
const test = base.extend<{ folder: string }>({
  folder: async ({ task: _ }, use) => {
    const folder = makeDataFolder()
    await use(folder)
    removeDataFolder(folder)
  },
})

const flags = (folder: string) => ['--data', folder, '--port', '0', '--log-level', 'warn']

/** All that a process has started. */
function startedBy(pid: number): Process[] {
  return descendantsOf(pid).map(processOf)
}

/** Resolves when the child says that the service is ready, to all that it has started. */
async function readyProcesses(child: ChildProcess): Promise<Process[]> {
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout!).on('line', (line) => {
      if (line.includes('Purser is ready')) resolve()
    })
    child.once('exit', () => reject(new Error('it ended before it was ready')))
  })
  return startedBy(child.pid!)
}

async function expectNobody(folder: string, processes: readonly Process[]): Promise<void> {
  await until(async () => !processes.some(isAlive))
  await until(async () => processesOn(folder).length === 0)
}

describe('npm start', () => {
  test.concurrent.for(['SIGTERM', 'SIGKILL', 'SIGINT'] as const)(
    'that gets %s leaves no process',
    async (signal, { folder }) => {
      const child = spawn('npm', ['start', '--', ...flags(folder)], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, npm_config_loglevel: 'silent' },
      })
      const processes = await readyProcesses(child)
      // Node.js, PostgreSQL, anvil and what they need.
      expect(processes.length).toBeGreaterThan(3)
      child.kill(signal)
      await expectNobody(folder, processes)
    },
  )
})

describe('a killed service', () => {
  test.concurrent('leaves no process when no other Purser takes over', async ({ folder }) => {
    const child = spawnCli(['dev', ...flags(folder)])
    const processes = await readyProcesses(child)
    child.kill('SIGKILL')
    await expectNobody(folder, processes)
    const again = await startPurser(folder)
    expect((await again.end('SIGTERM')).code).toBe(0)
  })

  test.concurrent('leaves none either when its data folder was deleted', async ({ folder }) => {
    const child = spawnCli(['dev', ...flags(folder)])
    const processes = await readyProcesses(child)
    await until(async () => isDeleted(folder))
    child.kill('SIGKILL')
    await expectNobody(folder, processes)
  })

  test.concurrent('leaves database and chain to the next one, which keeps them', async ({
    folder,
  }) => {
    const first = await startPurser(folder)
    const processes = startedBy(first.process.pid!)
    await first.end('SIGKILL')
    const second = await startPurser(folder)
    try {
      const watchdogs = processes.filter((pid) => !isAlive(pid)).length
      expect(watchdogs).toBeLessThan(processes.length)
      // Longer than the grace of the first one's watchdogs.
      const from = Date.now()
      await until(async () => Date.now() - from > 15_000)
      expect(await result(second.info.bundlerUrl, 'eth_chainId', [])).toBe('0x7a69')
      expect(await commandsOn(folder).answer('account', 'list')).toContain('development')
    } finally {
      expect((await second.end('SIGTERM')).code).toBe(0)
    }
    await expectNobody(folder, processes)
  })
})

/** Deletes a folder, and says whether it is gone: its service may write a file after all others were deleted. */
function isDeleted(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY')) throw error
  }
  return !existsSync(folder)
}

/** How many watchdogs the database and the chain of the folder have, no matter who started them. */
function countWatchdogs(folder: string): number {
  const server = Number.parseInt(
    readFileSync(`${folder}/postgres/cluster/postmaster.pid`, 'utf8'),
    10,
  )
  const chain = JSON.parse(readFileSync(`${folder}/chain-31337.process.json`, 'utf8')) as {
    pid: number
  }
  return [server, chain.pid].flatMap((ward) => processesOn(`purser-watchdog ${ward} `)).length
}

test.concurrent('the process that takes over after a kill is the only one with watchdogs', async ({
  folder,
}) => {
  let service = await startPurser(folder)
  const processes = startedBy(service.process.pid!)
  try {
    for (let round = 0; round < 3; round++) {
      await service.end('SIGKILL')
      service = await startPurser(folder)
      processes.push(...startedBy(service.process.pid!))
      // One left over would end the database as soon as a look finds nobody connected: in the next gap.
      expect(countWatchdogs(folder)).toBe(2)
    }
  } finally {
    await service.end('SIGTERM')
  }
  await expectNobody(folder, processes)
})

test.concurrent('a killed command leaves no database', async ({ folder }) => {
  const first = await startService(['dev', ...flags(folder)])
  await first.end('SIGTERM')
  const command = spawnCli(['audit', 'verify', '--data', folder])
  const processes = await until(async () => {
    const known = startedBy(command.pid!)
    return known.length > 2 && known
  })
  command.kill('SIGKILL')
  await once(command, 'exit')
  await expectNobody(folder, processes)
})
