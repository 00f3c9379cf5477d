import { parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { funderKey } from '../../src/cli/devnet/devKeys.js'
import { fundDevAccounts } from '../../src/cli/devnet/fundDevAccounts.js'
import { startNodeWithout } from '../support/chain/httpNode.js'
import { startAnvil } from '../support/chain/startAnvil.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
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

/** A key of nobody's development chain, so that the node's unlocked accounts are not ours. */
const MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
/** wei in each account of the node, and the gas of its blocks, as a bare `geth --dev` has them in its first minutes. */
const RICH = ['--balance', '1000000']
const SMALL_BLOCKS = ['--gas-limit', '16261795']

test('a chain with other accounts, small blocks and no way to place code is served', async () => {
  const dataFolder = makeDataFolder()
  const args = ['--mnemonic', MNEMONIC, '--chain-id', '1337', ...RICH, ...SMALL_BLOCKS]
  const anvil = await startAnvil(args)
  const locked = await startNodeWithout(anvil.url, ['eth_accounts'])
  const node = await startNodeWithout(anvil.url, ['anvil_setCode', 'hardhat_setCode'])
  try {
    // Nobody can pay: the sentence says to whom how much is to be sent.
    const address = privateKeyToAddress(funderKey)
    await expect(fundDevAccounts(locked.url)).rejects.toThrow(
      new RegExp(`no unlocked account .* send 10000 coins each to .*${address}`),
    )
    const purser = await startPurser(dataFolder, ['--rpc-url', node.url])
    try {
      const { info } = purser
      expect(Object.keys(info.entryPoints)).toEqual(['0.6', '0.7', '0.8'])
      expect(await anvil.client.getBalance({ address })).toBeGreaterThan(parseEther('1000'))
      const account = await devAccount(info, 'bare node')
      const hash = await account.send(await account.sponsored())
      expect((await receiptOf(info, hash)).success).toBe('true')
    } finally {
      await purser.end('SIGTERM')
    }
  } finally {
    await Promise.all([locked.stop(), node.stop()])
    await anvil.stop()
    removeDataFolder(dataFolder)
  }
})

test('a chain that a developer takes back is served from there on', async () => {
  const dataFolder = makeDataFolder()
  const anvil = await startAnvil()
  try {
    const purser = await startPurser(dataFolder, ['--rpc-url', anvil.url])
    try {
      const { info } = purser
      const include = async (name: string): Promise<void> => {
        const intents = intentsOf(name, 2)
        for (const intent of intents) {
          await prepare(info, intent)
          await send(info, intent)
        }
        await included(info, intents)
      }
      await include('before')
      const snapshot = await anvil.request('evm_snapshot', [])
      await include('taken back')
      await anvil.request('evm_revert', [snapshot])
      await include('after')
    } finally {
      await purser.end('SIGTERM')
    }
  } finally {
    await anvil.stop()
    removeDataFolder(dataFolder)
  }
})
