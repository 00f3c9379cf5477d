import { type Address, parseGwei, toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { result } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The attacker sends one public transaction a block, of the least gas, with a high tip. The gain: the service advises
 * that tip, refuses honest operations that offer less than half of it, lets those that it has wait, and a sponsored
 * operation may bid twice as much of the tank's money. Blocks are not full, so nobody needs that tip.
 */

const purser = useRunningPurser()

const ATTACKER = 4
const BLOCKS = 12

/** A transfer to itself in a block of its own; `tip` in gwei. */
async function pay(rpcUrl: string, from: Address, tip: string): Promise<void> {
  const maxPriorityFeePerGas = parseGwei(tip)
  const hash = await result(rpcUrl, 'eth_sendTransaction', [
    {
      from,
      to: from,
      gas: toHex(21_000),
      maxFeePerGas: toHex(maxPriorityFeePerGas + parseGwei('100')),
      maxPriorityFeePerGas: toHex(maxPriorityFeePerGas),
    },
  ])
  await until(() => result(rpcUrl, 'eth_getTransactionReceipt', [hash]))
}

test('one overpaying transaction a block raises no fee and stops no operation', async () => {
  const { info } = purser()
  const from = privateKeyToAddress(devKey(ATTACKER))
  const users = [await devAccount(info, 'raised tip 1'), await devAccount(info, 'raised tip 2')]
  const advised = () => result(info.bundlerUrl, 'biconomy_getGasFeeValues', [])
  const before = await advised()
  const operations = await Promise.all(users.map((user) => user.selfPaid({ to: TARGET })))
  for (let i = 0; i < BLOCKS; i++) await pay(info.rpcUrl, from, '500')
  const after = await advised()
  for (const tier of ['slow', 'standard', 'fast'])
    expect(BigInt(after[tier].maxPriorityFeePerGas)).toBeLessThanOrEqual(
      BigInt(before[tier].maxPriorityFeePerGas),
    )
  const blocks: bigint[] = []
  for (const [i, user] of users.entries()) {
    const sent = await user.client.getBlockNumber({ cacheTime: 0 })
    const { success, receipt } = await receiptOf(info, await user.send(operations[i]!))
    expect(success).toBe('true')
    blocks.push(BigInt(receipt.blockNumber) - sent)
    await pay(info.rpcUrl, from, '500')
  }
  expect(Math.max(...blocks.map(Number))).toBeLessThanOrEqual(2)
})

test('fees that a node suggests are sponsored where blocks were paid no tip', async () => {
  const { info } = purser()
  const from = privateKeyToAddress(devKey(ATTACKER))
  for (let i = 0; i < BLOCKS; i++) await pay(info.rpcUrl, from, '0')
  const { account, client, withGas } = await devAccount(info, 'suggested fees')
  const suggested = await client.estimateFeesPerGas()
  const draft = withGas(await account.draft({ to: TARGET }), {
    maxFeePerGas: `${suggested.maxFeePerGas}`,
    maxPriorityFeePerGas: `${suggested.maxPriorityFeePerGas}`,
  })
  const { sponsorship, paymasterAndData } = await result(
    info.paymasterUrl,
    'pm_sponsorUserOperation',
    [toInterfaceOperation(draft), { mode: 'SPONSORED', calculateGasLimits: true }],
  )
  expect(sponsorship).toMatchObject({ sponsored: true })
  expect(paymasterAndData).not.toBe('0x')
})
