import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { commandsOn, expectOneSentence, labelled } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import {
  makeDataFolder,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

let chain: PublicChain
let folder = ''
beforeAll(async () => {
  folder = makeDataFolder()
  chain = await startPublicChain(1_004)
})
afterAll(async () => {
  await chain.stop()
  removeDataFolder(folder)
})

function own() {
  return {
    chainId: chain.chainId,
    rpcUrls: [chain.rpcUrl],
    executorKeys: ['env:EXECUTOR'],
  }
}

/** The sentence of a service that must not start; nothing that it had started may be left. */
async function refused(
  command: 'serve' | 'dev',
  chains: readonly unknown[],
  more: readonly string[] = [],
  environment: Record<string, string> = { EXECUTOR: devKey(1) },
): Promise<string> {
  const quiet = ['--port', '0', '--log-level', 'error']
  const flags = ['--data', folder, '--chains', JSON.stringify(chains), ...quiet, ...more]
  const { code, stdout, stderr } = await runCli([command, ...flags], environment)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(processesOn(folder)).toEqual([])
  return expectOneSentence(stderr)
}

describe('a start that fails half-way leaves nothing', () => {
  test('a node serves another chain', async () => {
    expect(await refused('serve', [{ ...own(), chainId: 10 }])).toMatch(/chain 10 serves.* 1004/)
  })

  test('a preset names another chain than the node serves, or than the configuration', async () => {
    const { chainId: _, ...unnamed } = own()
    const served = await refused('serve', [{ preset: 'base', ...unnamed }])
    expect(served).toMatch(/chain 8453 serves.* 1004/)
    const named = await refused('serve', [{ preset: 'base', ...own() }])
    expect(named).toMatch(/chainId.*is not that of the preset/)
  })

  test('the contracts of a rollup are not there, or are there without being configured', async () => {
    const absent = await refused('serve', [{ ...own(), facts: { dataFee: 'opStack' } }])
    expect(absent).toMatch(/chain 1004 has no contract at 0x42\w+15.*correct facts.dataFee/i)
    const tester = anvilClient(chain.rpcUrl)
    const contracts = ['15', '0f'].map((end) => `0x42${'00'.repeat(18)}${end}` as const)
    for (const address of contracts) await tester.setCode({ address, bytecode: '0xfe' })
    try {
      expect(await refused('serve', [own()])).toMatch(/set facts.dataFee to "opStack"/)
    } finally {
      for (const address of contracts) await tester.setCode({ address, bytecode: '0x' })
    }
  })

  test('the EntryPoint is not there', async () => {
    const address = `0x${'ab'.repeat(20)}`
    const wrong = { ...own(), entryPoints: [{ version: '0.6', address }] }
    expect(await refused('serve', [wrong])).toContain(address)
  })

  test("an executor's key is missing", async () => {
    expect(await refused('serve', [own()], [], {})).toContain('EXECUTOR')
  })

  test('a chain is configured under the id of the development chain', async () => {
    const sentence = await refused('dev', [{ ...own(), chainId: 31_337 }])
    expect(sentence).toContain('31337')
  })

  test('the port is taken', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = blocker.address() as AddressInfo
      const sentence = await refused('serve', [own()], ['--port', String(port)])
      expect(sentence).toContain(`127.0.0.1:${port}`)
    } finally {
      blocker.close()
    }
  })

  test('the data folder is a file', async () => {
    const { code, stderr } = await runCli(['account', 'list', '--data', '/dev/null/data'])
    expect(code).toBe(1)
    expect(expectOneSentence(stderr)).toContain('/dev/null/data')
  })
})

describe('purser serve --embedded-chain', () => {
  test('starts a development chain in addition to the configured ones, which commands find too', async () => {
    const flags = ['--data', folder, '--port', '0', '--log-level', 'warn', '--embedded-chain']
    const service = await startService(['serve', ...flags, '--chains', JSON.stringify([own()])], {
      EXECUTOR: devKey(1),
    })
    try {
      const { answer, tenant } = commandsOn(folder)
      const { appId, apiKey } = await tenant('embedded')
      const made = await answer(
        'tank',
        'deposit',
        '--app',
        appId,
        '--chain',
        '31337',
        '--entry-point',
        '0.6',
        '--amount',
        '1',
      )
      const view = {
        ...chain,
        chainId: 31_337,
        rpcUrl: await until(async () => /31337 at (\S+)/.exec(service.output())?.[1]),
        bundlerUrl: `${urlOf(service)}/api/v2/31337/${apiKey}`,
        paymasterUrl: `${urlOf(service)}/api/v1/31337/${apiKey}`,
      }
      const account = await devAccount(view, 'embedded')
      const receipt = await receiptOf(view, await account.send(await account.sponsored()))
      expect(receipt.paymaster.toLowerCase()).toBe(labelled(made, 'tank'))
      const configured = await devAccount(
        { ...view, ...chain, bundlerUrl: view.bundlerUrl.replace('31337', '1004') },
        'configured',
      )
      expect(await configured.send(await configured.selfPaid())).toMatch(/^0x[0-9a-f]{64}$/)
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
    }
    expect(processesOn(folder)).toEqual([])
  })
})
