import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { commandsOn } from '../support/service/cliAnswers.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { servedChain } from '../support/service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const TOKEN = 'operator-token-of-the-reload-0123456789'

let first: PublicChain
let second: PublicChain
let folder = ''
let file = ''
let service: RunningService
let apiKey = ''

function configure(settings: Json): void {
  writeFileSync(file, JSON.stringify({ operatorToken: TOKEN, ...settings }))
}

beforeAll(async () => {
  folder = makeDataFolder()
  file = join(folder, 'purser.json')
  ;[first, second] = await Promise.all([startPublicChain(1_521), startPublicChain(1_522)])
  configure({ chains: [servedChain(first)] })
  const flags = ['--data', folder, '--config', file, '--port', '0', '--drain-seconds', '0']
  service = await startService(['serve', ...flags], { EXECUTOR: devKey(1) })
  apiKey = (await commandsOn(folder).tenant('reload')).apiKey
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await Promise.all([first?.stop(), second?.stop()])
  removeDataFolder(folder)
})

/** Requests to the first chain without a pause, until the returned function is called. */
function load(): () => Promise<{ readonly asked: number; readonly failed: readonly unknown[] }> {
  const { bundlerUrl } = clientView(first, urlOf(service), apiKey)
  const failed: unknown[] = []
  let asked = 0
  let isOn = true
  const one = async () => {
    while (isOn) {
      asked += 1
      const { status, body } = await rpc(bundlerUrl, 'eth_supportedEntryPoints', [])
      if (status !== 200) failed.push(body)
    }
  }
  const running = Promise.all([one(), one(), one()])
  return async () => {
    isOn = false
    await running
    return { asked, failed }
  }
}

const chainIds = async (): Promise<number[]> => {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${urlOf(service)}/admin/v1/chains`, { headers })
  const { items } = (await answer.json()) as Json
  return items.map(({ chainId }: Json) => chainId).sort()
}

/** Sends SIGHUP and waits for what the log says of it. */
async function reload(said: string): Promise<void> {
  const before = service.output().split(said).length
  service.process.kill('SIGHUP')
  await until(async () => service.output().split(said).length > before)
}

describe('SIGHUP', () => {
  test('adds a chain, replaces a changed one and takes one away, under load, without a failed request', async () => {
    const stop = load()
    configure({ chains: [servedChain(first), servedChain(second)] })
    await reload('the configuration was reloaded')
    expect(await chainIds()).toEqual([first.chainId, second.chainId])
    const added = await devAccount(clientView(second, urlOf(service), apiKey), 'added')
    const hash = await added.send(await added.selfPaid())
    expect((await receiptOf(clientView(second, urlOf(service), apiKey), hash)).success).toBe('true')

    configure({ chains: [{ ...servedChain(first), maxBundleWait: 5 }, servedChain(second)] })
    await reload('the configuration was reloaded')
    const changed = await devAccount(clientView(first, urlOf(service), apiKey), 'changed')
    const own = await changed.send(await changed.selfPaid())
    expect((await receiptOf(clientView(first, urlOf(service), apiKey), own)).success).toBe('true')

    configure({ chains: [{ ...servedChain(first), maxBundleWait: 5 }] })
    await reload('the configuration was reloaded')
    expect(await chainIds()).toEqual([first.chainId])
    const gone = await rpc(clientView(second, urlOf(service), apiKey).bundlerUrl, 'eth_chainId', [])
    expect(gone.body.error).toMatchObject({ code: -32602 })
    const { asked, failed } = await stop()
    expect(failed).toEqual([])
    expect(asked).toBeGreaterThan(50)
  })

  test('changes the level of the log, names what needs a restart, and survives a mistake', async () => {
    configure({ chains: [servedChain(first)], logLevel: 'debug', ipRate: 4_321 })
    await reload('these settings take effect at the next start')
    expect(service.output()).toContain('"settings":["ipRate"]')
    const headers = { authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`${urlOf(service)}/admin/v1/settings`, { headers })
    const { logLevel, items } = (await answer.json()) as Json
    expect(logLevel).toEqual({ now: 'debug', configured: 'debug' })
    const shown = items.filter(({ name }: Json) => ['logLevel', 'ipRate'].includes(name))
    expect(shown).toMatchObject([
      { name: 'logLevel', source: 'file', value: 'debug' },
      { name: 'ipRate', source: 'default', value: 10_000 },
    ])
    writeFileSync(file, '{ "chains": [ }')
    await reload('the configuration was not reloaded')
    expect(service.output()).toContain('is not valid JSON: unexpected')
    expect(await chainIds()).toEqual([first.chainId])
    expect(service.process.exitCode).toBeNull()
  })

  test('another role counts from the next start: until then the process bundles with its keys', async () => {
    configure({ chains: [{ ...servedChain(first), maxBundleWait: 6 }], role: ['api'] })
    await reload('these settings take effect at the next start')
    expect(service.output()).toContain('"settings":["role"')
    const view = clientView(first, urlOf(service), apiKey)
    const user = await devAccount(view, 'role')
    const hash = await user.send(await user.selfPaid())
    expect((await receiptOf(view, hash)).success).toBe('true')
  })

  test('by the API too: what changed is the answer', async () => {
    configure({ chains: [servedChain(first), servedChain(second)] })
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const url = `${urlOf(service)}/admin/v1/settings/reload`
    const answer = await fetch(url, { method: 'POST', headers, body: '{}' })
    expect(await answer.json()).toMatchObject({
      started: [second.chainId],
      stopped: [],
      failed: [],
      replacesProcesses: false,
    })
    writeFileSync(file, 'x')
    const refused = await fetch(url, { method: 'POST', headers, body: '{}' })
    expect(refused.status).toBe(409)
  })
})
