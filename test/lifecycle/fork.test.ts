import { type Address, createPublicClient, type Hex, http } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { devKey, devKeys } from '../../src/cli/devnet/devKeys.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { expectOneSentence } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import {
  makeDataFolder,
  removeDataFolder,
  runCli,
  startPurser,
} from '../support/service/startPurser.js'

/** The chain that is forked; its id is a real one's. */
const REAL_CHAIN_ID = 8_453
const SWEEPER: Hex = `0xef0100${'deadbeef'.repeat(5)}`
const KNOWN: Address = '0x00000000000000000000000000000000000c0de1'

describe('a development chain forked from a real one', () => {
  let real: PublicChain
  const folder = makeDataFolder()

  beforeAll(async () => {
    real = await startPublicChain(REAL_CHAIN_ID)
    const anvil = anvilClient(real.rpcUrl)
    await anvil.setCode({ address: KNOWN, bytecode: '0x602a60005260206000f3' })
    await anvil.setBalance({ address: KNOWN, value: 7n })
    // As on public chains: others hold the keys that everybody knows, and have delegated the accounts.
    for (const key of devKeys)
      await anvil.setCode({ address: privateKeyToAddress(key), bytecode: SWEEPER })
    await anvil.mine({ blocks: 5 })
  })

  afterAll(async () => {
    await real?.stop()
    removeDataFolder(folder)
  })

  test('has what is there, takes operations of its own, and sends nothing there', async () => {
    const theirs = createPublicClient({ transport: http(real.rpcUrl) })
    const before = await theirs.getBlockNumber()
    // The second start forks anew, on the data of the first.
    for (const seed of ['first', 'second']) {
      const purser = await startPurser(folder, ['--fork-url', real.rpcUrl])
      try {
        const { info } = purser
        expect(info.chainId).toBe(31_337)
        const forked = createPublicClient({ transport: http(info.rpcUrl) })
        expect(await forked.getBalance({ address: KNOWN })).toBe(7n)
        expect((await forked.call({ to: KNOWN })).data).toBe(`0x${'2a'.padStart(64, '0')}`)
        expect(await forked.getBlockNumber()).toBeGreaterThan(before)
        expect(await forked.getCode({ address: privateKeyToAddress(devKey(5)) })).toBeUndefined()
        const account = await devAccount(info, seed)
        const hash = await account.send(await account.sponsored())
        expect((await receiptOf(info, hash)).success).toBe('true')
        const demo = await runCli(['demo', '--data', folder])
        expect(demo.stdout.match(/success +true/g), demo.stderr).toHaveLength(3)
      } finally {
        expect((await purser.end('SIGTERM')).code).toBe(0)
      }
    }
    expect(await theirs.getBlockNumber()).toBe(before)
  })

  test('needs a node that answers, and is not for a node of its own', async () => {
    const flags = ['dev', '--data', folder, '--port', '0', '--fork-url', 'http://127.0.0.1:1']
    const away = await runCli(flags)
    expect(expectOneSentence(away.stderr)).toMatch(/127\.0\.0\.1:1 does not answer: .* --fork-url/)
    const both = await runCli([...flags, '--rpc-url', real.rpcUrl])
    expect(expectOneSentence(both.stderr)).toContain('use one of them')
  })
})
