import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import { NodeUnavailableError } from '../chain/nodeErrors.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { canonicalBlocks, getBlock } from '../chain/nodeReads.js'
import type { Database } from '../db/database.js'
import { zeroAddress } from '../erc4337/encoding/constants.js'
import { depositOf } from '../paymaster/entryPointDeposit.js'
import { type BookedMoney, readBookedMoney } from './ledger/bookedMoney.js'
import { blockAt, type ChainMoney, readChainMoney, readReceipts } from './chainMoney.js'
import { compareLedger, type VerifiedAccount } from './compareLedger.js'

export type LedgerProof = {
  readonly from: bigint
  /** Entries from here on are compared; older ones may be deleted from the ledger. */
  readonly kept: bigint
  readonly to: bigint
  readonly accounts: readonly VerifiedAccount[]
}

type LedgerQuestion = {
  readonly chainId: number
  /** The days for which the ledger keeps entries. */
  readonly days: number
  /** The first block whose logs are read; absent = an hour before the oldest tank. */
  readonly from?: bigint | undefined
}

const HOUR = 3_600
const DAY = 86_400

/**
 * Derives all balances of a chain from its logs and receipts, and compares the ledger with them, entry by entry up to
 * the block that the ledger is settled to.
 * @throws NodeUnavailableError where ledger and node follow different branches, or the chain changes meanwhile
 */
export async function verifyLedger(
  db: Database,
  node: NodeClient,
  { chainId, days, from: asked }: LedgerQuestion,
): Promise<LedgerProof> {
  const books = await readBookedMoney(db, chainId)
  const head = await getBlock(node, 'latest')
  if (head === undefined) throw new NodeUnavailableError('it has no newest block')
  const { newest, tanks } = books
  if (newest !== undefined) await requireBlock(node, newest)
  const oldest = tanks[0]?.createdAt.getTime() ?? Date.now()
  const from = asked ?? (await blockAt(node, oldest / 1_000 - HOUR, head.number))
  const kept = await blockAt(node, Date.now() / 1_000 - days * DAY, head.number)
  const chain = await readChainMoney(node, tanks, from, head.number)
  const receipts = await readReceipts(node, transactionsOf(books, chain))
  const deposits = await Promise.all(
    tanks.map((tank) => depositOf(node, tank.entryPoint, tank.address, head.number)),
  )
  await requireBlock(node, head)
  const range = { from, kept: greatest(kept, from), to: newest?.number ?? -1n }
  const facts = {
    books,
    chain,
    receipts,
    range,
    deposits,
    keptSince: Date.now() - days * DAY * 1_000,
  }
  return { ...range, accounts: compareLedger(facts) }
}

async function requireBlock(
  node: NodeClient,
  { number, hash }: { readonly number: bigint; readonly hash: Hex },
): Promise<void> {
  const blocks = await canonicalBlocks(node, [number])
  if (blocks.get(number)?.hash !== hash)
    throw new NodeUnavailableError(`block ${number} is not ${hash} on the node: run it again`)
}

/** The transactions whose logs alone do not say enough. */
function transactionsOf(
  { reservations, payments }: BookedMoney,
  { charges, ...chain }: ChainMoney,
): Hex[] {
  const silent = new Set(
    payments.flatMap(({ userOpHash }) => (chain.payments.has(userOpHash) ? [] : [userOpHash])),
  )
  return [
    ...reservations.flatMap((each) =>
      each.tank === zeroAddress ? (each.transactionHash ?? []) : [],
    ),
    ...charges.flatMap((each) => (silent.has(each.userOpHash) ? [each.transactionHash] : [])),
  ]
}
