import { type Hex, toEventSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { result } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'

let folder: string
let purser: RunningPurser | undefined

beforeAll(() => {
  folder = makeDataFolder()
})
afterAll(async () => {
  await purser?.end('SIGTERM')
  removeDataFolder(folder)
})

const USER_OPERATION_EVENT = toEventSelector(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
)

/** How often the chain says that an operation was included. */
async function inclusions(rpcUrl: string, hash: Hex): Promise<number> {
  const logs = await result(rpcUrl, 'eth_getLogs', [
    { fromBlock: '0x0', toBlock: 'latest', topics: [USER_OPERATION_EVENT, hash] },
  ])
  return logs.length
}

describe('restart', () => {
  test('after SIGKILL every acknowledged operation is included once and receipts are served', async () => {
    purser = await startPurser(folder)
    const { info } = purser
    const early = await devAccount(info, 'early')
    const earlyHash = await early.send(await early.selfPaid())
    const before = await receiptOf(info, earlyHash)

    const accounts = await Promise.all(
      Array.from({ length: 12 }, (_, index) => devAccount(info, `restart ${index}`)),
    )
    const operations = await Promise.all(accounts.map((account) => account.selfPaid()))
    // Killed as soon as the last one is acknowledged, wherever the others are by then.
    const hashes = await Promise.all(
      accounts.map((account, index) => account.send(operations[index]!)),
    )
    await purser.end('SIGKILL')

    purser = await startPurser(folder)
    const after = purser.info
    expect(after.apiKey).toBe(info.apiKey)
    expect(after.authToken).toBe(info.authToken)
    expect(after.tanks).toEqual(info.tanks)
    for (const hash of hashes) {
      expect((await receiptOf(after, hash)).success).toBe('true')
      expect(await inclusions(after.rpcUrl, hash)).toBe(1)
    }
    expect((await receiptOf(after, earlyHash)).receipt.transactionHash).toBe(
      before.receipt.transactionHash,
    )
  })

  test('after a clean stop the chain, the keys and the receipts are still there', async () => {
    if (!purser) throw new Error('The first test did not leave a running service.')
    const { info } = purser
    const account = await devAccount(info, 'clean stop')
    const hash = await account.send(await account.selfPaid())
    const before = await receiptOf(info, hash)
    expect((await purser.end('SIGTERM')).code).toBe(0)

    purser = await startPurser(folder)
    expect(purser.info.bundlerUrl.split('/').at(-1)).toBe(info.apiKey)
    const after = await receiptOf(purser.info, hash)
    expect({ ...after, receipt: { ...after.receipt, confirmations: 0 } }).toEqual({
      ...before,
      receipt: { ...before.receipt, confirmations: 0 },
    })
    expect(await inclusions(purser.info.rpcUrl, hash)).toBe(1)
    const next = await devAccount(purser.info, 'after clean stop')
    await receiptOf(purser.info, await next.send(await next.selfPaid()))
  })
})
