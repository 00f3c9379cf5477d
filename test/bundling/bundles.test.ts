import { encodeFunctionData, type Hex, parseGwei, zeroAddress } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { operationByHash } from '../../src/bundling/operationByHash.js'
import { type BundlingChain, puppetAbi, startBundlingChain, touch } from '../support/bundlingChain.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()

describe('one bundling round', () => {
  let chain: BundlingChain

  beforeEach(async () => {
    chain = await startBundlingChain(database())
  })

  afterEach(async () => {
    await chain.stop()
  })

  test('carries the operations of several senders in one transaction', async () => {
    const hashes: Hex[] = []
    for (let i = 0; i < 5; i++)
      hashes.push(await chain.admit(chain.operation(await chain.puppet())))
    await chain.settle()
    const receipts = await Promise.all(hashes.map(chain.receipt))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(1)
    expect(receipts.every(({ success }) => success)).toBe(true)
    const [first] = receipts
    const earned = receipts.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    expect(earned).toBeGreaterThanOrEqual(first!.receipt.gasUsed * first!.receipt.effectiveGasPrice)
  })
})
