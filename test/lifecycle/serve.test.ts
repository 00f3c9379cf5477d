import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { depositOf } from '../support/chain/depositOf.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { result, rpc } from '../support/http/jsonRpc.js'
import { commandsOn, labelled } from '../support/service/cliAnswers.js'
import { createTenant } from '../support/service/createTenant.js'
import { type ClientView, devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { descendantsOf, isAlive } from '../support/service/processes.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const CHAIN_IDS = [1_001, 1_002] as const
const executors = { EXECUTOR_1: devKey(1), EXECUTOR_2: devKey(2) }

const PURSER_MASTER_KEY = '5e'.repeat(32)

let folder: string
let chains: PublicChain[] = []
let service: RunningService | undefined
let views: ClientView[] = []
const tanks: string[] = []
let apiKey = ''

function url(): string {
  return service ? urlOf(service) : ''
}

function fileOf(path: string): string {
  const list = chains.map(({ chainId, rpcUrl }, index) => ({
    chainId,
    rpcUrls: [rpcUrl],
    facts: { pollInterval: 50 },
    executorKeys: [`env:EXECUTOR_${index + 1}`],
  }))
  writeFileSync(path, JSON.stringify({ chains: list, port: 0, logLevel: 'warn' }))
  return path
}

/** Tanks by the commands, which need no executor's key; then the service. */
beforeAll(async () => {
  folder = makeDataFolder()
  chains = await Promise.all(CHAIN_IDS.map(startPublicChain))
  const PURSER_CONFIG = fileOf(join(folder, 'purser.json'))
  const { answer } = commandsOn(folder, { PURSER_CONFIG, PURSER_MASTER_KEY, PAYER: devKey(3) })
  const made = await createTenant(folder, 'two chains')
  apiKey = made.apiKey
  for (const chainId of CHAIN_IDS) {
    const flags = ['--app', made.appId, '--chain', String(chainId), '--amount', '2']
    tanks.push(labelled(await answer('tank', 'deposit', ...flags, '--key', 'env:PAYER'), 'tank'))
  }
  service = await startService(['serve', '--data', folder], {
    PURSER_CONFIG,
    PURSER_MASTER_KEY,
    ...executors,
  })
  views = chains.map((chain) => ({
    ...chain,
    bundlerUrl: `${url()}/api/v2/${chain.chainId}/${apiKey}`,
    paymasterUrl: `${url()}/api/v1/${chain.chainId}/${apiKey}`,
  }))
})

afterAll(async () => {
  await service?.end('SIGTERM')
  for (const chain of chains) await chain.stop()
  removeDataFolder(folder)
})

async function ready(query: string) {
  const response = await fetch(`${url()}/health/ready${query}`)
  return { status: response.status, body: await response.json() }
}

async function run(view: ClientView, seed: string, kind: 'selfPaid' | 'sponsored') {
  const account = await devAccount(view, seed)
  const hash = await account.send(await account[kind]())
  const receipt = await receiptOf(view, hash)
  expect(receipt.success).toBe('true')
  return { hash, receipt }
}

describe('purser serve with two chains', () => {
  test('the tanks were made with all that they run, on chains that had nothing of ours', async () => {
    expect(tanks).toHaveLength(2)
    for (const [index, { rpcUrl, entryPoints }] of chains.entries()) {
      const tank = tanks[index] as `0x${string}`
      expect(await depositOf(rpcUrl, entryPoints['0.6'], tank)).toBe(parseEther('2'))
    }
  })

  test('one key serves both, each path its chain, and no other chain', async () => {
    for (const { bundlerUrl, chainId } of views)
      expect(Number(await result(bundlerUrl, 'eth_chainId', []))).toBe(chainId)
    const { status, body } = await rpc(`${url()}/api/v2/1003/${apiKey}`, 'eth_chainId', [])
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code: -32602 })
    expect(body.error?.message).toContain('1003')
    expect((await rpc(`${url()}/api/v2/1001/${apiKey}x`, 'eth_chainId', [])).status).toBe(401)
  })

  test('self-paid and sponsored operations on each chain; the other does not know them', async () => {
    for (const [index, view] of views.entries()) {
      const other = views[1 - index]!
      for (const kind of ['selfPaid', 'sponsored'] as const) {
        const { hash, receipt } = await run(view, kind, kind)
        const payer =
          kind === 'sponsored' ? tanks[index] : '0x0000000000000000000000000000000000000000'
        expect(receipt.paymaster.toLowerCase()).toBe(payer)
        for (const method of ['eth_getUserOperationReceipt', 'eth_getUserOperationByHash'])
          expect(await result(other.bundlerUrl, method, [hash])).toBeNull()
      }
    }
  })

  test('a chain whose node ends is unready by name; the service and the other chain work on', async () => {
    expect(await ready('?chain=1002')).toMatchObject({ status: 200 })
    const view = views[1]!
    const { account, entryPoint } = await devAccount(view, 'lost')
    const draft = toInterfaceOperation(await account.draft({ to: TARGET }))
    await chains[1]!.stop()
    const unready = await until(async () => {
      const answer = await ready('?chain=1002')
      return answer.status === 503 && answer
    })
    expect((await ready('')).status).toBe(200)
    expect((await ready('?chain=1001')).status).toBe(200)
    expect(JSON.stringify(unready.body)).toContain('chain 1002')
    expect(JSON.stringify(unready.body)).not.toContain(new URL(chains[1]!.rpcUrl).host)
    expect((await fetch(`${url()}/health/live`)).status).toBe(200)
    await run(views[0]!, 'with a dead chain', 'sponsored')
    const { status, body } = await rpc(view.bundlerUrl, 'eth_estimateUserOperationGas', [
      draft,
      entryPoint,
    ])
    expect({ status, code: body.error?.code }).toEqual({ status: 503, code: -32005 })
  })

  test('it ends cleanly, also with a dead chain', async () => {
    const children = descendantsOf(service!.process.pid!)
    expect((await service!.end('SIGTERM')).code).toBe(0)
    expect(children.filter(isAlive)).toEqual([])
  })
})
