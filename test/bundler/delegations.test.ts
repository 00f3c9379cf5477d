import { type Address, type Hex, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, test } from 'vitest'
import { operationByHash } from '../../src/bundler/operationViews.js'
import { delegateOf } from '../../src/chain/delegations.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import type { GasEstimate } from '../../src/gas/estimateOperation.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { useWorld } from '../support/world.js'

describe.each(['0.8', '0.9'] as const)('authorizations in bundles of EntryPoint v%s', (version) => {
  const bundling = useWorld({ definition: { rules: 'full', executorKeys: [devKey(1)] } })
  const chain = () => bundling().at(version)
  let count = 0
  beforeEach(async () => {
    await bundling().tester.setAutomine(true)
  })

  /** An estimated and signed operation that delegates its new, funded sender. */
  const delegating = async (changes: Partial<Operation> = {}, nonceKey = 0n) => {
    const seed = `delegating ${version} ${count++}`
    return { seed, op: await prepare(seed, changes, nonceKey) }
  }
  const prepare = async (seed: string, changes: Partial<Operation> = {}, nonceKey = 0n) => {
    const drafted = await chain().draft('delegated', seed, chain().onTarget('write', 0n, 2n))
    await chain().fund(drafted.sender)
    const draft = { ...drafted, ...changes, nonce: nonceKey << 64n }
    return chain().sign(complete(draft, await generousGas(draft)), seed)
  }
  /** Limits for fees with a margin to share a bundle's price with others, and to have it raised. */
  const generousGas = async (draft: Operation): Promise<GasEstimate> => {
    const advised = await bundling().estimate(chain().entryPoint, { ...draft, ...unsetGas })
    return bundling().estimate(chain().entryPoint, {
      ...draft,
      ...unsetGas,
      maxFeePerGas: 3n * advised.maxFeePerGas,
      maxPriorityFeePerGas: 2n * advised.maxPriorityFeePerGas,
    })
  }
  const admit = (op: Operation) => bundling().admit(op, chain().entryPoint)
  const delegateOfSender = async (sender: Address) =>
    delegateOf((await bundling().tester.getCode({ address: sender })) ?? '0x')

  /** The sender spends a nonce of its own. */
  const move = async (seed: string): Promise<void> => {
    const { address } = privateKeyToAccount(keyFromSeed(seed))
    await bundling().tester.impersonateAccount({ address })
    const hash = await bundling().tester.request({
      method: 'eth_sendTransaction',
      params: [{ from: address, to: address, gas: '0x186a0' }],
    } as never)
    await bundling().tester.waitForTransactionReceipt({ hash })
  }
  const openTransactions = async () => {
    const open = await bundling().openBundles()
    const newest = open.map(({ attempts }) => bundling().signedBytes(attempts.at(-1)!))
    return (await Promise.all(newest)).map((raw) => parseTransaction(raw))
  }

  test('go each in a bundle of its own, which pays for itself and delegates its sender', async () => {
    const ops = [(await delegating()).op, (await delegating()).op]
    const plain = await chain().draft(
      'deployed',
      `plain ${count++}`,
      chain().onTarget('write', 0n, 1n),
    )
    await chain().fund(plain.sender)
    ops.push(await chain().sign(complete(plain, await generousGas(plain)), `plain ${count - 1}`))
    await bundling().tester.setAutomine(false)
    const hashes: Hex[] = []
    for (const op of ops) hashes.push(await admit(op))
    const tuples: (readonly Address[])[] = []
    for (let bundle = 0; bundle < 3; bundle++) {
      await bundling().round()
      const [transaction] = await openTransactions()
      tuples.push(transaction?.authorizationList?.map(({ address }) => address) ?? [])
      await bundling().tester.mine({ blocks: 1 })
    }
    await bundling().settle()
    const delegate = ops[0]!.authorization!.address
    expect(tuples.map((list) => list.length).sort()).toEqual([0, 1, 1])
    expect(tuples.flat().map((address) => address.toLowerCase())).toEqual([delegate, delegate])
    const receipts = await Promise.all(hashes.map((hash) => bundling().receipt(hash)))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(3)
    for (const { success, actualGasCost, receipt } of receipts) {
      expect(success).toBe(true)
      expect(actualGasCost).toBeGreaterThanOrEqual(receipt.gasUsed * receipt.effectiveGasPrice)
    }
    for (const { sender } of ops.slice(0, 2)) expect(await delegateOfSender(sender)).toBe(delegate)
    const [executor] = bundling().executors
    expect(await bundling().tester.getCode({ address: executor!.address })).toBeUndefined()
    const found = await operationByHash(bundling().context, hashes[0]!)
    expect(found?.operation).toEqual(ops[0])
  })

  test('stay with their bundle when its fees are raised', async () => {
    await bundling().tester.setAutomine(false)
    const { op } = await delegating()
    const hash = await admit({ ...op })
    await bundling().round()
    const [first] = await openTransactions()
    await bundling().roundAs({ resubmitAfter: 0 })
    const [second] = await openTransactions()
    expect(second!.maxFeePerGas).toBeGreaterThan(first!.maxFeePerGas!)
    expect(second!.authorizationList).toEqual(first!.authorizationList)
    await bundling().tester.mine({ blocks: 1 })
    await bundling().settle()
    expect((await bundling().receipt(hash)).success).toBe(true)
  })

  test('are left out when the delegation is in place by then', async () => {
    const { op, seed } = await delegating()
    const hash = await admit(op)
    const other = await prepare(seed, {}, 1n)
    const { outcome } = await chain().send(other)
    expect(outcome?.success).toBe(true)
    await bundling().settle()
    const { success, receipt } = await bundling().receipt(hash)
    expect(success).toBe(true)
    const transaction = await bundling().tester.getTransaction({ hash: receipt.transactionHash })
    expect(transaction.type).toBe('eip1559')
    // Sent a third time it needs nothing either; without a tuple its hash asks for the delegate.
    const third = await prepare(seed, {}, 2n)
    const again = await admit({ ...third, authorization: op.authorization })
    await bundling().settle()
    expect((await bundling().receipt(again)).success).toBe(true)
    const byHash = await operationByHash(
      bundling().context,
      chain().entryPoint.hash(other, chain().chainId),
    )
    expect(byHash?.operation.sender).toBe(other.sender)
  })

  test('that became stale take nobody down: the operation is dropped with the reason', async () => {
    const { op, seed } = await delegating()
    const hash = await admit(op)
    const companion = await admit((await delegating()).op)
    await move(seed)
    await bundling().settle()
    expect(await bundling().stored(hash)).toMatchObject({
      state: 'dropped',
      reasonCode: 'STALE_AUTHORIZATION',
      reason: expect.stringContaining("the sender's account is at 1"),
    })
    expect((await bundling().receipt(companion)).success).toBe(true)
  })

  test('that the chain would pass over are not admitted', async () => {
    const { op, seed } = await delegating()
    const stranger = { ...op, sender: chain().target }
    await expect(admit(stranger)).rejects.toMatchObject({
      code: -32602,
      data: { field: 'eip7702Auth' },
    })
    await move(seed)
    await expect(admit(op)).rejects.toMatchObject({
      code: -32500,
      message: expect.stringContaining("it has nonce 0, the sender's account is at 1"),
    })
    const elsewhere = await privateKeyToAccount(keyFromSeed(seed)).signAuthorization({
      address: op.authorization!.address,
      chainId: 5,
      nonce: 1,
    })
    const authorization = { ...elsewhere, nonce: 1n, yParity: elsewhere.yParity as 0 | 1 }
    await expect(admit({ ...op, authorization })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('its chainId is 5'),
    })
  })
})
