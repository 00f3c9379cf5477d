import { expect, test } from 'vitest'
import { startNodeWithout } from '../support/chain/httpNode.js'
import { startAnvil } from '../support/chain/startAnvil.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { makeDataFolder, removeDataFolder, startPurser } from '../support/service/startPurser.js'

const OPERATIONS = 6

test('a development chain that is not ours is never asked to trace a mined bundle', async () => {
  const dataFolder = makeDataFolder()
  const anvil = await startAnvil()
  const node = await startNodeWithout(anvil.url, [])
  try {
    const purser = await startPurser(dataFolder, ['--rpc-url', node.url])
    try {
      const { info } = purser
      for (let index = 0; index < OPERATIONS; index++) {
        const account = await devAccount(info, `traced ${index}`)
        const op = index % 2 === 0 ? await account.selfPaid() : await account.sponsored()
        expect((await receiptOf(info, await account.send(op))).success).toBe('true')
      }
    } finally {
      // A comparison that is under way comes to its end, or asks the node, before this does.
      await purser.end('SIGTERM')
    }
    const methods = node.bodies.flatMap((body) =>
      [body as { method: string }].flat().map(({ method }) => method),
    )
    expect(methods).toContain('eth_sendRawTransaction')
    expect(methods.filter((method) => method === 'debug_traceTransaction')).toEqual([])
  } finally {
    await node.stop()
    await anvil.stop()
    removeDataFolder(dataFolder)
  }
})
