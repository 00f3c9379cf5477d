import { afterAll, expect, test } from 'vitest'
import { createNodeClient } from '../../../src/chain/nodeClient.js'
import { fundDevTanks } from '../../../src/cli/dev/bootstrap.js'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'
import { deployDevContracts } from '../../../src/cli/devnet/deployDevContracts.js'
import { type Anvil, startAnvil } from '../../../src/cli/devnet/startAnvil.js'
import { createTanks } from '../../../src/paymaster/tanks.js'
import { startWatchedNode, type WatchedNode } from '../../support/chain/watchedNode.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { silent } from '../../support/logger.js'

const shared = useDatabase()
let anvil: Anvil
let node: WatchedNode
afterAll(async () => {
  await node?.stop()
  await anvil?.stop()
})

/*
 * A block of a foreign chain takes a second or twelve, so a start should need few. Blocks are counted and not
 * seconds: one is mined when the start does nothing but ask for receipts.
 */
test('a development start needs at most eight blocks', async () => {
  anvil = await startAnvil({ chainId: 31_337, logger: silent })
  const client = anvilClient(anvil.rpcUrl)
  await client.setAutomine(false)
  node = await startWatchedNode(anvil.rpcUrl)
  const { entryPoints, absent, tankFactory } = await deployDevContracts(node.url)
  expect(absent).toEqual([])
  const deploying = Number(await client.getBlockNumber())
  expect(deploying).toBeLessThanOrEqual(5)

  const appId = await createApp(shared().database)
  const definition = { chainId: 31_337, pollInterval: 50, tankFactory }
  const nodeClient = createNodeClient({ urls: [node.url], logger: silent })
  const masterKey = Buffer.alloc(32, 7)
  const tanks = createTanks({
    database: shared().database,
    masterKey,
    node: nodeClient,
    definition,
  })
  try {
    const kinds = (['gas', 'token'] as const).map((kind) =>
      fundDevTanks(tanks, appId, entryPoints, kind),
    )
    for (const made of await Promise.all(kinds))
      expect(Object.keys(made)).toEqual(Object.keys(entryPoints))
  } finally {
    await nodeClient.close()
  }
  // Sixteen transactions: before, each waited for a block of its own.
  expect(Number(await client.getBlockNumber()) - deploying).toBeLessThanOrEqual(3)
})
