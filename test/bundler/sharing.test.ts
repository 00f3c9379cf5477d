import { type Hex, numberToHex, parseGwei } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import { preVerificationGas } from '../../src/gas/preVerificationGas.js'
import { useDatabase } from '../support/database/database.js'
import { openWorld, type World } from '../support/world/openWorld.js'

const postgres = useDatabase()
const expectedBundleSize = 3

describe('operations that pay for a bundle of three', () => {
  let chain: World

  const start = async (maxBundleWait = 3_600_000): Promise<void> => {
    const definition = { expectedBundleSize, maxBundleWait }
    chain = await openWorld(postgres().database, { definition })
  }
  afterEach(() => chain.stop())

  const admit = async (tip = parseGwei('1'), maxFeePerGas = parseGwei('40')): Promise<Hex> =>
    chain.admit(
      chain.operation(await chain.createAccount(), { maxPriorityFeePerGas: tip, maxFeePerGas }),
    )
  const states = (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await chain.stored(hash)).state))

  test('wait for each other and go together', async () => {
    await start()
    await setBaseFee(parseGwei('5'))
    const hashes = [await admit()]
    await chain.settle()
    expect(await states(hashes)).toEqual(['pooled'])
    hashes.push(await admit(), await admit())
    await chain.settle()
    const receipts = await Promise.all(hashes.map((hash) => chain.receipt(hash)))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(1)
    const { gasUsed, effectiveGasPrice } = receipts[0]!.receipt
    const earned = receipts.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    expect(earned).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
  })

  test('are joined by those that pay a lower tip rather than wait', async () => {
    await start()
    await setBaseFee(parseGwei('5'))
    const hashes = [await admit(), await admit(), await admit(parseGwei('0.9'))]
    await chain.settle()
    expect(await states(hashes)).toEqual(['included', 'included', 'included'])
    const { receipt } = await chain.receipt(hashes[0]!)
    expect((await chain.receipt(hashes[2]!)).receipt.transactionHash).toBe(receipt.transactionHash)
  })

  test('go alone at once when they pay for it, by preVerificationGas or by their tip', async () => {
    await start()
    const op = chain.operation(await chain.createAccount())
    const alone = { bundleSize: 1, verificationGasUsed: 0n, hasBeneficiary: false, contextSize: 0 }
    const wide = { ...op, preVerificationGas: 0xffffffn }
    const gas = preVerificationGas(chain.entryPoint, wide, alone)
    const hash = await chain.admit({ ...op, preVerificationGas: gas })
    const rich = await admit(parseGwei('40'), parseGwei('200'))
    await chain.round()
    expect(await states([hash, rich])).not.toContain('pooled')
    await chain.settle()
    const receipts = await Promise.all([hash, rich].map((each) => chain.receipt(each)))
    // They share a transaction where both are sent at once.
    const transactions = new Map(receipts.map(({ receipt }) => [receipt.transactionHash, receipt]))
    for (const { transactionHash, gasUsed, effectiveGasPrice } of transactions.values()) {
      const paid = receipts
        .filter(({ receipt }) => receipt.transactionHash === transactionHash)
        .reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
      expect(paid).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
    }
  })

  test('that waited without success go with the highest tip that they can pay', async () => {
    await start(0)
    await setBaseFee(1n)
    const { standard } = await adviseFees(chain.context.node, chain.heads.current(), {})
    const { maxPriorityFeePerGas: tip } = standard
    const hash = await admit(tip, tip * 10n)
    await chain.settle()
    const { actualGasCost, receipt } = await chain.receipt(hash)
    expect(actualGasCost).toBeGreaterThanOrEqual(receipt.gasUsed * receipt.effectiveGasPrice)
    expect(receipt.effectiveGasPrice).toBeLessThan(tip / 2n)
  })

  test('that waited without success and cannot pay at all are dropped with advice on what to send', async () => {
    await start(0)
    await setBaseFee(parseGwei('2'))
    const hash = await admit()
    await chain.settle()
    const { reason, ...stored } = await chain.stored(hash)
    expect(stored).toMatchObject({ state: 'dropped', reasonCode: 'BUNDLE_NOT_SHARED' })
    const [, enough] = /preVerificationGas (\d+), with which it can go alone/.exec(reason!)!
    const again = { ...stored.operation, preVerificationGas: BigInt(enough!) }
    const second = await chain.admit(again)
    await chain.settle()
    expect((await chain.receipt(second)).success).toBe(true)
  })

  const setBaseFee = async (wei: bigint): Promise<void> => {
    await chain.anvil.request('anvil_setNextBlockBaseFeePerGas', [numberToHex(wei)])
    await chain.anvil.request('evm_mine', [])
    await chain.heads.refresh()
  }
})

test('the first bundle for a beneficiary that does not exist has the gas to create it', async () => {
  const beneficiary = '0x00000000000000000000000000000000000b0b01'
  const chain = await openWorld(postgres().database, { definition: { beneficiary } })
  try {
    const gasOfBundle = async (): Promise<bigint> => {
      const hash = await chain.admit(chain.operation(await chain.createAccount()))
      await chain.settle()
      const { receipt } = await chain.receipt(hash)
      return (await chain.tester.getTransaction({ hash: receipt.transactionHash })).gas
    }
    const [first, second] = [await gasOfBundle(), await gasOfBundle()]
    expect(await chain.balanceOf(beneficiary)).toBeGreaterThan(0n)
    // A zero byte more or less in an address costs 12.
    expect(Number(first - second) / 25_000).toBeCloseTo(1, 1)
  } finally {
    await chain.stop()
  }
})
