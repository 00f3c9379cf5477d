import { type Address, createPublicClient, createTestClient, type Hex, http } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sum } from '../../src/base/bigints.js'
import type { DevInfo } from '../../src/cli/devInfo.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Database } from '../../src/db/database.js'
import { startEmbeddedPostgres } from '../../src/db/embedded/embeddedPostgres.js'
import { listUnbooked } from '../../src/records/unbooked.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { includedHashes, paidByTank, tankDeposit, withBooks } from '../support/database/books.js'
import { backUpOnline } from '../support/database/onlineBackup.js'
import { result } from '../support/http/jsonRpc.js'
import { silent } from '../support/logger.js'
import { rowsOf } from '../support/service/cliAnswers.js'
import { fillTank } from '../support/service/fillTank.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving, serveEnvironment } from '../support/service/serving.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const CHAIN_ID = 1_118
/** Operations of each kind; every other one is paid by the tank. */
const SIZE = 6
const executors = [devKey(1), devKey(2)].map(privateKeyToAddress)

let serving: Serving
let node: TroubledNode
let tank: Hex
let service: RunningService
let restored: { readonly folder: string; stop(): Promise<void> } | undefined

beforeAll(async () => {
  serving = await prepareServing(
    CHAIN_ID,
    async ({ rpcUrl }) => {
      node = await startTroubledNode(rpcUrl)
      return {
        rpcUrls: [node.url],
        facts: { resubmitAfter: 2_000 },
        executorKeys: ['env:EXECUTOR', 'env:SECOND_EXECUTOR'],
      }
    },
    { OWNER_KEY: devKey(3), SECOND_EXECUTOR: devKey(2) },
  )
  const [app] = rowsOf(await serving.commands.answer('app', 'list'))
  tank = await fillTank(serving.commands, app?.id ?? '', CHAIN_ID)
  service = await serving.start()
})

afterAll(async () => {
  await serving?.stop()
  await node?.stop()
  await restored?.stop()
  if (restored) removeDataFolder(restored.folder)
})

function info(): DevInfo {
  return { ...serving.info(), tanks: { '0.6': tank } }
}

const entryPoint = () => info().entryPoints['0.6'] as Address

function chain() {
  const transport = http(info().rpcUrl)
  return {
    client: createPublicClient({ chain: foundry, transport }),
    tester: createTestClient({ mode: 'anvil', chain: foundry, transport }),
  }
}

function each(
  intents: readonly Intent[],
  step: (info: DevInfo, intent: Intent) => Promise<unknown>,
) {
  return Promise.all(intents.map((intent) => step(info(), intent)))
}

function hashesOf(...groups: (readonly Intent[])[]): Hex[] {
  return groups.flat().map(({ acknowledged }) => {
    if (acknowledged === undefined) throw new Error('an operation was not acknowledged')
    return acknowledged
  })
}

/** Starts the service on a new cluster that is made of the backup. */
async function startOn(folder: string): Promise<RunningService> {
  const postgres = await startEmbeddedPostgres(folder, silent)
  restored = { folder, stop: postgres.stop }
  const { DATABASE_URL } = serveEnvironment(folder, {}, {})
  return serving.start({ DATABASE_URL })
}

test('a service on a backup that was taken while it ran loses nothing that was in it, sends nothing twice, and its books catch up', async () => {
  const { client, tester } = chain()
  const deposit = await tankDeposit(info())
  const [early, waiting, during, after, since, lost] = [
    intentsOf('early', SIZE),
    intentsOf('waiting', SIZE),
    intentsOf('during', SIZE),
    intentsOf('after', SIZE),
    intentsOf('since', SIZE),
    intentsOf('lost', SIZE),
  ]
  for (const group of [early, waiting, during, after, lost]) await each(group, prepare)
  await each(early, send)
  await included(info(), early)

  // Acknowledged before the backup, and in no block before its end.
  await tester.setAutomine(false)
  await each(waiting, send)
  const folder = makeDataFolder()
  await backUpOnline(serving.folder, folder, () => each(during, send))

  // The service and the chain go on; at last operations are acknowledged that no node gets.
  await tester.setAutomine(true)
  await tester.mine({ blocks: 1 })
  await included(info(), [...waiting, ...during])
  await each(after, send)
  await included(info(), after)
  // These are sponsored after the backup, so its books know nothing of them.
  await each(since, prepare)
  await each(since, send)
  await included(info(), since)
  await node.begin({ kind: 'error', methods: ['eth_sendRawTransaction'] })
  await each(lost, send)
  await until(async () => node.met() > 0)
  await service.end('SIGKILL')
  await node.end()
  await tester.mine({ blocks: 5 })

  service = await startOn(folder)
  const known = [...early, ...waiting, ...during, ...after, ...since]
  await included(info(), known)
  // The limit of every backup: what was acknowledged after it and reached no node is nowhere.
  for (const hash of hashesOf(lost))
    expect(await result(info().bundlerUrl, 'eth_getUserOperationReceipt', [hash])).toBeNull()
  // The same signed operations are taken again, under the same hashes, along with new ones.
  const later = intentsOf('later', SIZE)
  await each(later, prepare)
  await each([...lost, ...later], send)
  await included(info(), [...lost, ...later])

  expect((await includedHashes(info())).sort()).toEqual(hashesOf(known, lost, later).sort())
  const { chain: paid, books } = await paidByTank(folder, info())
  expect(paid).toHaveLength((7 * SIZE) / 2)
  expect(books).toEqual(paid)
  const cost = paid.reduce((sum, each) => sum + each.cost, 0n)
  expect(await tankDeposit(info())).toBe(deposit - cost)
  const ofTank = { chainId: CHAIN_ID, entryPoint: entryPoint(), paymaster: tank }
  const unbooked = await withBooks(folder, (database) => listUnbooked(database, ofTank))
  const sponsored = since.filter(({ payer }) => payer === 'tank')
  expect(unbooked.map(({ sender }) => sender).sort()).toEqual(
    sponsored.map(({ op }) => op?.sender).sort(),
  )
  const hashes = hashesOf(sponsored)
  const costs = paid.flatMap((each) => (hashes.includes(each.hash) ? each.cost : []))
  expect(sum(unbooked.map((each) => each.paid))).toBe(sum(costs))
  await until(() => withBooks(folder, hasEnded))
  for (const executor of executors) {
    const count = (blockTag: 'latest' | 'pending') =>
      client.getTransactionCount({ address: executor, blockTag })
    expect(await count('pending')).toBe(await count('latest'))
  }
})

/** Whether no operation waits and no bundle is under way. */
async function hasEnded(database: Database): Promise<boolean> {
  const waiting = await database
    .selectFrom('operations')
    .select('hash')
    .where('state', 'in', ['pooled', 'bundled'])
    .execute()
  const bundles = await database
    .selectFrom('bundles')
    .select('id')
    .where('state', '=', 'signed')
    .execute()
  return waiting.length + bundles.length === 0
}
