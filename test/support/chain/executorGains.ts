import type { Address } from 'viem'
import { expect } from 'vitest'
import type { AnvilClient } from '../../../src/cli/devnet/anvilClient.js'

type ChainReader = Pick<AnvilClient, 'getBalance' | 'getBlock'>

type PurseGain = {
  readonly blockNumber: bigint
  /** Transactions of the operator in the block. */
  readonly transactions: number
  /** wei by which the operator's accounts together hold more after the block than before. */
  readonly gain: bigint
}

/**
 * The gain of the operator in each block after `from` up to the head in which an account of his sent a
 * transaction, by balances alone: neither events nor receipts nor any formula of ours is asked.
 * `purse` are his executors and, where one is configured, the beneficiary; nobody else may send them wei.
 */
export async function gainsSince(
  chain: ChainReader,
  purse: readonly Address[],
  from: bigint,
): Promise<PurseGain[]> {
  const { number: head } = await chain.getBlock()
  const senders = new Set(purse.map((address) => address.toLowerCase()))
  const wealth = async (blockNumber: bigint) => {
    const wei = purse.map((address) => chain.getBalance({ address, blockNumber }))
    return (await Promise.all(wei)).reduce((sum, balance) => sum + balance, 0n)
  }
  const gains: PurseGain[] = []
  for (let blockNumber = from + 1n; blockNumber <= head!; blockNumber++) {
    const block = await chain.getBlock({ blockNumber, includeTransactions: true })
    const own = block.transactions.filter(
      (transaction) =>
        typeof transaction === 'object' && senders.has(transaction.from.toLowerCase()),
    )
    if (own.length === 0) continue
    const gain = (await wealth(blockNumber)) - (await wealth(blockNumber - 1n))
    gains.push({ blockNumber, transactions: own.length, gain })
  }
  return gains
}

/**
 * Expects that the operator lost in no block since `from` more than `allowed` wei, and that he sent a
 * bundle at all; returns what he gained altogether, in wei.
 */
export async function expectNoLoss(
  chain: ChainReader,
  purse: readonly Address[],
  from: bigint,
  allowed = 0n,
): Promise<bigint> {
  const gains = await gainsSince(chain, purse, from)
  expect(gains.length, 'blocks with a bundle').toBeGreaterThan(0)
  for (const { blockNumber, gain } of gains)
    expect(gain, `gain in block ${blockNumber}`).toBeGreaterThanOrEqual(-allowed)
  return gains.reduce((sum, { gain }) => sum + gain, 0n)
}
