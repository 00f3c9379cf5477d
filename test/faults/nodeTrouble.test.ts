import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import {
  startTroubledNode,
  type Trouble,
  type TroubledNode,
} from '../support/chain/troubledNode.js'
import { expectBalancedBooks, tankDeposit } from '../support/database/books.js'
import { rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'
import { killDatabase } from '../support/service/survivors.js'
import { until } from '../support/until.js'

const full = process.env.PURSER_FAULTS === 'full'

/** With the words of a line that the service must log, none for trouble that it just bears. */
type Case = readonly [name: string, trouble: Trouble, log: readonly string[]]

const broken: readonly Case[] = [
  ['is stopped', { kind: 'stopped' }, ['no head']],
  [
    'loses the answers to eth_sendRawTransaction',
    { kind: 'error', methods: ['eth_sendRawTransaction'], late: true },
    ['the node did not accept the bundle', 'internal error'],
  ],
  [
    'answers errors to eth_getTransactionReceipt',
    { kind: 'error', methods: ['eth_getTransactionReceipt'] },
    ['a bundling cycle failed', 'internal error'],
  ],
]

const further: readonly Case[] = [
  ['answers garbage', { kind: 'garbage' }, ['node did not answer', 'no JSON-RPC answer']],
  ['answers slowly', { kind: 'slow', milliseconds: 1_500 }, []],
  [
    'refuses eth_sendRawTransaction',
    { kind: 'error', methods: ['eth_sendRawTransaction'] },
    ['the node did not accept the bundle', 'internal error'],
  ],
  [
    'answers errors to eth_call',
    { kind: 'error', methods: ['eth_call'] },
    ['the executor cannot send', 'internal error'],
  ],
  [
    'answers errors to eth_getLogs',
    { kind: 'error', methods: ['eth_getLogs'] },
    ['a bundling cycle failed', 'internal error'],
  ],
  [
    'has no receipts of what it mined',
    { kind: 'unaware', methods: ['eth_getTransactionReceipt'] },
    ['a bundling cycle failed', 'no receipt of 0x'],
  ],
]

describe('a node that', () => {
  let folder: string
  let anvil: Anvil
  let node: TroubledNode
  let purser: RunningPurser
  let info: DevInfo
  let deposit: bigint
  const hashes: `0x${string}`[] = []

  beforeAll(async () => {
    folder = makeDataFolder()
    anvil = await startAnvil()
    node = await startTroubledNode(anvil.url)
    purser = await startPurser(folder, ['--rpc-url', node.url])
    info = { ...purser.info, rpcUrl: anvil.url }
    deposit = await tankDeposit(info)
  })
  afterEach(() => node.end())
  afterAll(async () => {
    await purser?.end('SIGTERM')
    await killDatabase(folder)
    await node?.stop()
    await anvil?.stop()
    removeDataFolder(folder)
  })

  /** Sends; a refusal must say that the node is not available, in both dialects' code. */
  const tryToSend = async (intent: Intent): Promise<void> => {
    const account = await devAccount(info, intent.seed)
    const { status, body } = await rpc(info.bundlerUrl, 'eth_sendUserOperation', [
      toInterfaceOperation(intent.op!),
      account.entryPoint,
    ])
    if (body.error) expect([status, body.error.code]).toEqual([503, -32005])
    else intent.acknowledged = body.result
  }

  const recover = async (intents: readonly Intent[]): Promise<void> => {
    await node.end()
    await Promise.all(intents.map((intent) => send(info, intent)))
    hashes.push(...(await included(info, intents)))
    await until(async () => (await fetch(`${info.url}/health/ready`)).status === 200)
    await expectBalancedBooks(folder, info, hashes, deposit)
  }

  test.each(full ? [...broken, ...further] : broken)(
    '%s loses nothing and pays nothing twice',
    async (name, trouble, log) => {
      const intents = intentsOf(name, 6)
      for (const intent of intents) await prepare(info, intent)
      const printed = purser.output().length
      // Half are somewhere on their way when the trouble begins, half come while it lasts.
      await Promise.all(intents.slice(0, 3).map((intent) => send(info, intent)))
      await node.begin(trouble)
      await Promise.all(intents.slice(3).map(tryToSend))
      const said = () => purser.output().slice(printed)
      const isTold = (line: string) => log.every((words) => line.includes(words))
      await until(async () => (log.length > 0 ? said().split('\n').some(isTold) : node.met() >= 10))
      expect(said()).not.toMatch(/operation dropped/)
      await recover(intents)
    },
  )

  test('answers from an old block is not believed, and nothing is sent on its state', async () => {
    const intents = intentsOf('old block', 4)
    for (const intent of intents) await prepare(info, intent)
    const block = await anvil.client.getBlockNumber({ cacheTime: 0 })
    await Promise.all(intents.slice(0, 2).map((intent) => send(info, intent)))
    await included(info, intents.slice(0, 2))
    const mined = () => anvil.client.getBlockNumber({ cacheTime: 0 })
    const before = await mined()
    await node.begin({ kind: 'old', block })
    await Promise.all(intents.slice(2).map(tryToSend))
    await until(async () => node.met() >= 40)
    expect(await mined()).toBe(before)
    await recover(intents)
  })
})
