import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestClient, http, publicActions } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FaultPoint } from '../../src/base/faults.js'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { expectBalancedBooks, inclusions, tankDeposit } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import {
  type Intent,
  included,
  intentsOf,
  prepare,
  send,
  whileDying,
} from '../support/service/intents.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'
import { killChain, killDatabase } from '../support/service/survivors.js'
import { until } from '../support/until.js'

/** All points, each also with the database killed. `npm run test:faults` asks for it. */
const full = process.env.PURSER_FAULTS === 'full'

type Passing = FaultPoint | `${FaultPoint}:${number}`

/** Points that requests and bundling reach, with the passing at which the process dies. */
const points: readonly Passing[] = full
  ? [
      'sponsorship:signed:2',
      'sponsorship:reserved',
      'sponsorship:committed',
      'admission:simulated:2',
      'admission:inserting',
      'admission:inserting:3',
      'admission:committed',
      'admission:committed:2',
      'admission:committed:4',
      'bundle:simulated',
      'bundle:claimed',
      'bundle:claimed:2',
      'bundle:committed',
      'bundle:committed:2',
      'broadcast:before',
      'broadcast:before:2',
      'broadcast:after',
      'broadcast:after:2',
      'receipts:read',
      'inclusion:settled',
      'inclusion:committed',
    ]
  : ['admission:inserting:3', 'broadcast:after']

const STATUS = 'biconomy_getUserOperationStatus'

/** Waits for the death of a process that reaches its fault point; one that does not is ended. */
async function dead({ process, ended, output }: RunningPurser): Promise<void> {
  const late = setTimeout(() => process.kill('SIGTERM'), 60_000)
  const { signal } = await ended
  clearTimeout(late)
  expect(signal, output()).toBe('SIGKILL')
}

/** A start that ends at `fault`, before or after it says that it is ready. */
async function dieStarting(folder: string, fault: Passing): Promise<void> {
  const outcome = await startPurser(folder, [], { PURSER_FAULT: fault }).catch((error) => error)
  if (outcome instanceof Error) expect(outcome.message).toContain('ended with SIGKILL')
  else await dead(outcome)
}

/** At twice the advised fees, so that the bundle can go up with its own. */
async function prepareGenerously(info: DevInfo, intent: Intent): Promise<void> {
  const account = await devAccount(info, intent.seed)
  const op = await account.selfPaid()
  const [maxFeePerGas, maxPriorityFeePerGas] = [2n * op.maxFeePerGas, 2n * op.maxPriorityFeePerGas]
  intent.op = await account.sign({ ...op, maxFeePerGas, maxPriorityFeePerGas })
}

describe('a service that is killed', () => {
  let folder: string
  let purser: RunningPurser
  const hashes: `0x${string}`[] = []
  let deposit: bigint

  beforeAll(async () => {
    folder = makeDataFolder()
    purser = await startPurser(folder)
    deposit = await tankDeposit(purser.info)
  })
  afterAll(async () => {
    await purser?.end('SIGTERM')
    await killDatabase(folder)
    await killChain(folder)
    removeDataFolder(folder)
  })
  const start = async (fault?: Passing): Promise<DevInfo> => {
    await purser.end('SIGKILL')
    purser = await startPurser(folder, [], fault ? { PURSER_FAULT: fault } : {})
    return purser.info
  }

  const anvil = ({ rpcUrl }: DevInfo) =>
    createTestClient({
      mode: 'anvil',
      chain: foundry,
      transport: http(rpcUrl, { timeout: 60_000 }),
    }).extend(publicActions)

  /** What clients do when the service is back; then nothing may be lost or doubled. */
  const recover = async (info: DevInfo, intents: readonly Intent[]): Promise<void> => {
    for (const intent of intents) await prepare(info, intent)
    await Promise.all(intents.map((intent) => send(info, intent)))
    hashes.push(...(await included(info, intents)))
    await expectBalancedBooks(folder, info, hashes, deposit)
  }

  // First, while the chain is small and soon saved.
  test('with its chain, which comes back without its last blocks, includes them again', async () => {
    const intents = intentsOf('lost blocks', 4)
    const before = await start()
    for (const intent of intents) await prepare(before, intent)
    const state = join(folder, 'chain-31337.state.json')
    const savedAt = () => statSync(state, { throwIfNoEntry: false })?.mtimeMs ?? 0
    // Twice: the first save may be of the state before, and is over when the second one begins.
    for (let time = 0; time < 2; time++) {
      const mined = Date.now()
      await anvil(before).mine({ blocks: 1 })
      await until(async () => savedAt() > mined)
    }
    const saved = readFileSync(state)
    for (const intent of intents) await send(before, intent)
    await included(before, intents)
    await purser.end('SIGKILL')
    await killChain(folder)
    writeFileSync(state, saved)
    const info = await start()
    await until(async () => (await inclusions(info)) === hashes.length + intents.length)
    await recover(info, intents)
  })

  for (const databaseToo of full ? [false, true] : [false])
    test.each(points)(
      `at %s${databaseToo ? ' with its database' : ''} keeps its word`,
      async (point) => {
        const intents = intentsOf(`${point} ${databaseToo}`, 4)
        const doomed = await start(point)
        if (!point.startsWith('sponsorship'))
          for (const each of intents) await prepare(doomed, each)
        await whileDying(intents, async (intent) => {
          await prepare(doomed, intent)
          await send(doomed, intent)
        })
        await dead(purser)
        if (databaseToo) await killDatabase(folder)
        const promised = intents.filter(({ acknowledged }) => acknowledged)
        const info = await start()
        await included(info, promised)
        await recover(info, intents)
      },
    )

  test('while it catches up, twice, keeps its word', async () => {
    const intents = intentsOf('catching up', 4)
    const before = await start()
    await anvil(before).setAutomine(false)
    for (const intent of intents) await prepare(before, intent)
    for (const intent of intents) await send(before, intent)
    // A bundle is stored before it is sent: one that waits for the next start would be included behind the blocks.
    const isSent = async ({ acknowledged }: Intent): Promise<boolean> => {
      const asked = [acknowledged]
      const { transactionHash } = await result(before.bundlerUrl, STATUS, asked)
      if (typeof transactionHash !== 'string') return false
      return (await result(before.rpcUrl, 'eth_getTransactionByHash', [transactionHash])) !== null
    }
    await until(async () => (await Promise.all(intents.map(isSent))).every(Boolean))
    // While it stands still, not after its end: a chain without its service ends ten seconds later.
    purser.process.kill('SIGSTOP')
    await anvil(before).setAutomine(true)
    await anvil(before).mine({ blocks: 2_100 })
    await purser.end('SIGKILL')
    for (const point of ['inclusion:settled', 'index:catching-up:2'] as const)
      await dieStarting(folder, point)
    await recover(await start(), intents)
  })

  test.runIf(full)(
    'between the storing and the sending of a replacement keeps its word',
    async () => {
      const intents = intentsOf('resubmission', 2)
      const doomed = await start('resubmission:committed')
      for (const intent of intents) await prepareGenerously(doomed, intent)
      await anvil(doomed).setAutomine(false)
      await whileDying(intents, (intent) => send(doomed, intent))
      await dead(purser)
      await killDatabase(folder)
      await anvil(doomed).setAutomine(true)
      await anvil(doomed).mine({ blocks: 1 })
      await recover(await start(), intents)
    },
  )

  test.runIf(full)('between the undoing and the reading of a reorg keeps its word', async () => {
    const intents = intentsOf('reorg', 4)
    const doomed = await start('reorg:undone')
    for (const intent of intents) await prepare(doomed, intent)
    for (const intent of intents) await send(doomed, intent)
    await included(doomed, intents)
    await anvil(doomed).request({ method: 'anvil_reorg' as never, params: [2, []] as never })
    await dead(purser)
    await recover(await start(), intents)
  })
})

test.each(full ? [false, true] : [false])(
  'a first start that is killed at every step can be repeated; database killed too: %s',
  async (databaseToo) => {
    const folder = makeDataFolder()
    try {
      for (const point of ['migration:applied', 'start:migrated', 'index:began'] as const) {
        await dieStarting(folder, point)
        if (databaseToo) await killDatabase(folder)
      }
      const purser = await startPurser(folder)
      try {
        const deposit = await tankDeposit(purser.info)
        const intents = intentsOf('first start', 2)
        for (const intent of intents) await prepare(purser.info, intent)
        for (const intent of intents) await send(purser.info, intent)
        const hashes = await included(purser.info, intents)
        await expectBalancedBooks(folder, purser.info, hashes, deposit)
      } finally {
        await purser.end('SIGTERM')
      }
    } finally {
      await killDatabase(folder)
      await killChain(folder)
      removeDataFolder(folder)
    }
  },
)
