import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { metricsToken } from '../support/service/metricsOf.js'
import { descendantsOf, isAlive, variablesOf } from '../support/service/processes.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { type RunningService, runCli } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const COUNT = 3
const group = { PURSER_PROCESSES: String(COUNT), PURSER_OPERATOR_TOKEN: metricsToken }

let serving: Serving
let service: RunningService
let settings: Readonly<Record<string, string>>

beforeAll(async () => {
  serving = await prepareServing(1_733, async ({ rpcUrl }) => {
    settings = { rpcUrl }
    return {}
  })
  service = await serving.start(group)
})
afterAll(() => serving?.stop())

function pids(): number[] {
  return descendantsOf(service.process.pid!).filter(isAlive)
}

/** By a connection of its own, which any of the processes may get. */
async function ask(method: string): Promise<number> {
  const response = await fetch(serving.info().standardUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
  })
  await response.text()
  return response.status
}

async function page(): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${metricsToken}`, connection: 'close' }
  const response = await fetch(`${serving.info().url}/metrics`, { headers })
  expect(response.status).toBe(200)
  return (await response.text()).split('\n')
}

/** Values by the number of the process. */
async function valuesOf(start: string, label = ''): Promise<Map<string, number>> {
  const lines = (await page()).filter(
    (line) => line.startsWith(`${start}{`) && line.includes(label),
  )
  return new Map(
    lines.map((line) => [
      /process="(\d+)"/.exec(line)?.[1] ?? '',
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  )
}

function sumOf(values: ReadonlyMap<string, number>): number {
  return [...values.values()].reduce((sum, value) => sum + value, 0)
}

describe('processes that share a listener', () => {
  test('are all counted on one page, whichever of them is asked, and one of them bundles', async () => {
    expect(pids()).toHaveLength(COUNT)
    const calls = () => valuesOf('purser_rpc_calls_total', 'method="eth_supportedEntryPoints"')
    for (let sent = 0; sent < 30; sent++) expect(await ask('eth_supportedEntryPoints')).toBe(200)
    const counted = await calls()
    expect([...counted.keys()].sort()).toEqual(['1', '2', '3'])
    expect(sumOf(counted)).toBe(30)
    expect(Math.min(...counted.values())).toBeGreaterThan(0)
    expect(
      (await page()).filter((line) => line.startsWith('# TYPE purser_rpc_calls_total')),
    ).toEqual(['# TYPE purser_rpc_calls_total counter'])
    await until(async () => sumOf(await valuesOf('purser_lease_held')) === 1)
    const account = await devAccount(serving.info(), 'of a group')
    const hash = await account.send(await account.selfPaid())
    expect(await receiptOf(serving.info(), hash)).toMatchObject({ success: 'true' })
  })

  test('all have the level of the log that the operator gives one of them', async () => {
    const settings = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${metricsToken}`, connection: 'close' }
      const url = `${serving.info().url}/admin/v1/settings${path}`
      const response = await fetch(url, { ...init, headers })
      expect(response.status).toBe(200)
      return (await response.json()) as Json
    }
    for (const level of ['debug', 'silent', 'info']) {
      await settings('/log-level', { method: 'PATCH', body: JSON.stringify({ level }) })
      const levels = new Map<number, string>()
      await until(async () => {
        const { process, logLevel } = await settings('')
        levels.set(process, logLevel.now)
        return levels.size === COUNT && [...levels.values()].every((each) => each === level)
      })
    }
    const { items } = await settings('')
    const { PURSER_PROCESSES } = Object.fromEntries(
      items.map((each: Json) => [each.variable, each]),
    )
    expect(PURSER_PROCESSES).toMatchObject({ value: COUNT, source: 'environment' })
  })

  test('are started again when one is killed, and answer meanwhile', async () => {
    const before = pids()
    process.kill(before[0]!, 'SIGKILL')
    // Until the parent sees the end, the dead process may be handed a connection.
    await until(async () => service.output().includes('a process ended and is restarted'))
    expect(await ask('eth_chainId')).toBe(200)
    await until(async () => (await valuesOf('purser_head_block')).size === COUNT)
    expect(pids()).toHaveLength(COUNT)
    expect(pids()).not.toContain(before[0])
    expect(pids()).toEqual(expect.arrayContaining(before.slice(1)))
  })

  test('are replaced one after the other on SIGHUP without a request that fails', async () => {
    const before = pids()
    service.process.kill('SIGHUP')
    const answers = new Set<number>()
    await until(async () => {
      answers.add(await ask('eth_chainId'))
      return before.every((pid) => !isAlive(pid))
    })
    expect([...answers]).toEqual([200])
    expect(pids()).toHaveLength(COUNT)
  })

  test('are replaced once each, also when they end meanwhile', async () => {
    service = await serving.start(group)
    const before = pids()
    const numbered = (number: number) =>
      pids().filter((pid) => variablesOf(pid).includes(`PURSER_PROCESS_NUMBER=${number}`))
    const newOf = (number: number) =>
      until(async () => numbered(number).find((pid) => !before.includes(pid)))
    const ended = (count: number) =>
      until(async () => service.output().split('a process ended and is restarted').length > count)
    const [[first], [second]] = [numbered(1), numbered(2)]
    service.process.kill('SIGHUP')
    const replacement = await newOf(1)
    process.kill(replacement, 'SIGSTOP')
    process.kill(first!, 'SIGKILL')
    await ended(1)
    process.kill(second!, 'SIGKILL')
    await ended(2)
    // It is started as long after its end as the first would be, and the first ended earlier.
    const restarted = await newOf(2)
    process.kill(restarted, 'SIGSTOP')
    expect(numbered(1)).toEqual([replacement])
    process.kill(replacement, 'SIGCONT')
    await until(async () => (await valuesOf('purser_head_block')).has('1'))
    process.kill(restarted, 'SIGCONT')
    await until(async () => service.output().includes('all processes were replaced'))
    // It may have read the old files.
    expect(isAlive(restarted)).toBe(false)
    const replaced = pids()
    expect(replaced).toHaveLength(COUNT)
    expect(replaced.filter((pid) => before.includes(pid))).toEqual([])

    service.process.kill('SIGHUP')
    await until(async () => replaced.every((pid) => !isAlive(pid)))
    expect(pids()).toHaveLength(COUNT)
  })

  test('end when they are asked to, and none outlives a parent that is killed', async () => {
    const asked = pids()
    expect(await service.end('SIGTERM')).toEqual({ code: 0 })
    expect(asked.filter(isAlive)).toEqual([])
    service = await serving.start(group)
    const orphans = pids()
    expect(orphans).toHaveLength(COUNT)
    await service.end('SIGKILL')
    await until(async () => orphans.every((pid) => !isAlive(pid)))
  })

  test('that cannot start end with the reason, said once', async () => {
    const chains = JSON.stringify([
      { chainId: 1_733, rpcUrls: [settings.rpcUrl], executorKeys: ['env:NOBODY'] },
    ])
    const environment = { PURSER_CHAINS: chains, PURSER_PROCESSES: '2' }
    const flags = ['serve', '--data', serving.folder, '--port', '0']
    const alone = await runCli(flags, environment)
    expect(alone.code).toBe(1)
    expect(alone.stderr).toContain('--processes needs a database server')
    const database = 'postgresql://purser@127.0.0.1:1/nowhere'
    const nowhere = await runCli(flags, { ...environment, DATABASE_URL: database })
    expect(nowhere.code).toBe(1)
    expect(nowhere.stderr.match(/NOBODY/g)).toHaveLength(1)
    expect(nowhere.stdout).not.toContain('ready')
  })
})
