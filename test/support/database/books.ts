import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  parseAbi,
  parseAbiItem,
  parseEther,
  zeroAddress,
} from 'viem'
import { foundry } from 'viem/chains'
import { expect } from 'vitest'
import { sum } from '../../../src/base/bigints.js'
import { createNodeClient } from '../../../src/chain/nodeClient.js'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { type Database, openDatabase } from '../../../src/db/database.js'
import { verifyLedger } from '../../../src/records/verifyLedger.js'
import { silent } from '../logger.js'

const event = parseAbiItem(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
)
const balanceOf = parseAbi(['function balanceOf(address) view returns (uint256)'])

/** wei that anvil gives each executor to begin with */
const BEGIN = parseEther('10000')

/** Blocks whose logs are read at once. */
const LOG_PAGE = 1_000n

/** One inclusion as the chain's log and as our books have it. */
type Entry = {
  readonly hash: Hex
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly logIndex: number
  readonly sender: Address
  readonly paymaster: Address
  readonly cost: bigint
  readonly success: boolean
}

async function ofChain(info: DevInfo): Promise<Entry[]> {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const address = info.entryPoints['0.6'] as Address
  const head = await client.getBlockNumber({ cacheTime: 0 })
  const logs = []
  // In pages: those of half an hour are 100 MB.
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += LOG_PAGE) {
    const toBlock = fromBlock + LOG_PAGE - 1n
    logs.push(...(await client.getLogs({ address, event, fromBlock, toBlock, strict: true })))
  }
  return logs.map(({ args, transactionHash, blockNumber, blockHash, logIndex }) => ({
    hash: args.userOpHash,
    transactionHash,
    blockNumber,
    blockHash,
    logIndex,
    sender: args.sender.toLowerCase() as Address,
    paymaster: args.paymaster.toLowerCase() as Address,
    cost: args.actualGasCost,
    success: args.success,
  }))
}

async function ofBooks(database: Database, { chainId }: DevInfo): Promise<Entry[]> {
  const rows = await database
    .selectFrom('inclusions')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('block_number')
    .orderBy('log_index')
    .execute()
  return rows.map((row) => ({
    hash: row.user_op_hash,
    transactionHash: row.transaction_hash,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    logIndex: row.log_index,
    sender: row.sender,
    paymaster: row.paymaster,
    cost: row.actual_gas_cost,
    success: row.success,
  }))
}

/** The operations that the app's tank paid, as the chain's log and as our books have them. */
export async function paidByTank(dataFolder: string, info: DevInfo) {
  const isOfTank = ({ paymaster }: Entry) => paymaster === info.tanks['0.6']
  const books = await withBooks(dataFolder, (database) => ofBooks(database, info))
  return { chain: (await ofChain(info)).filter(isOfTank), books: books.filter(isOfTank) }
}

/** The hashes of the operations that the chain says it has included. */
export async function includedHashes(info: DevInfo): Promise<Hex[]> {
  return (await ofChain(info)).map(({ hash }) => hash)
}

/** How many operations the chain says it has included. */
export async function inclusions(info: DevInfo): Promise<number> {
  return (await ofChain(info)).length
}

/** wei that the app's tank has in the EntryPoint. */
export function tankDeposit(info: DevInfo): Promise<bigint> {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  return client.readContract({
    address: info.entryPoints['0.6'] as Address,
    abi: balanceOf,
    functionName: 'balanceOf',
    args: [info.tanks['0.6'] as Address],
  })
}

/** The embedded database of a running service, opened next to it. */
export async function withBooks<Result>(
  dataFolder: string,
  run: (database: Database) => Promise<Result>,
): Promise<Result> {
  const socketFolder = join(dataFolder, 'postgres/cluster')
  const database = openDatabase({ socketFolder, user: 'purser', database: 'postgres' }, silent, {
    size: 1,
  })
  try {
    return await run(database)
  } finally {
    await database.destroy()
  }
}

/** The balances of the ledger that `purser ledger verify` finds to differ from the chain. */
async function ledgerDifferences(database: Database, { rpcUrl, chainId }: DevInfo) {
  const node = createNodeClient({ urls: [rpcUrl], logger: silent })
  try {
    const { accounts } = await verifyLedger(database, node, { chainId, days: 90, from: 0n })
    return accounts.filter(({ first }) => first !== undefined)
  } finally {
    await node.close()
  }
}

/** Sums by account and holder of the entries in double entry that a condition chooses; those of 0 are left out. */
async function entriesBy(
  database: Database,
  { chainId }: DevInfo,
  condition: RawBuilder<unknown>,
): Promise<Record<string, bigint>> {
  const { rows } = await sql<{ of: string; amount: bigint }>`
    select account || ' ' || holder as of, sum(amount)::numeric(78, 0) as amount from ledger_entries
    where chain_id = ${chainId} and ${condition} group by 1 having sum(amount) <> 0`.execute(
    database,
  )
  return Object.fromEntries(rows.map(({ of, amount }) => [of, amount]))
}

/** The entries of the coin are what the chain says: who paid for operations, and what each executor has more. */
async function expectCoinEntries(database: Database, info: DevInfo, chain: readonly Entry[]) {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const isCoin = sql`currency = 'coin'`
  const all = Object.values(await entriesBy(database, info, isCoin))
  expect(sum(all)).toBe(0n)
  const paid: Record<string, bigint> = {}
  for (const { cost, paymaster, sender } of chain) {
    const holder = paymaster === zeroAddress ? sender : paymaster
    paid[holder] = (paid[holder] ?? 0n) - cost
  }
  const charged = await entriesBy(
    database,
    info,
    sql`${isCoin} and kind = 'charge' and account in ('tank', 'paymaster', 'sender')`,
  )
  const byHolder = Object.entries(charged).map(([of, amount]) => [of.split(' ')[1], amount])
  expect(Object.fromEntries(byHolder)).toEqual(paid)
  const executors = await entriesBy(database, info, sql`${isCoin} and account = 'executor'`)
  expect(Object.keys(executors).length > 0).toBe(chain.length > 0)
  for (const [of, gained] of Object.entries(executors)) {
    const address = of.split(' ')[1] as Address
    expect([address, (await client.getBalance({ address })) - BEGIN]).toEqual([address, gained])
  }
}

/**
 * Where nothing was withdrawn yet: the entries of coin, token tanks and executors are what the chain says.
 * Resolves to the tokens (smallest units) that all tanks hold by both.
 */
export async function expectEntriesOfChain(
  dataFolder: string,
  info: DevInfo,
  token: Address,
): Promise<bigint> {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const chain = await ofChain(info)
  return withBooks(dataFolder, async (database) => {
    await expectCoinEntries(database, info, chain)
    const entries = await entriesBy(database, info, sql`currency = ${token}`)
    const tanks = Object.entries(entries).filter(([of]) => of.startsWith('tokenTank '))
    for (const [of, amount] of tanks) {
      const args = [of.split(' ')[1] as Address] as const
      const held = { address: token, abi: balanceOf, functionName: 'balanceOf', args } as const
      expect(await client.readContract(held)).toBe(amount)
    }
    expect(sum(Object.values(entries))).toBe(0n)
    return sum(tanks.map(([, amount]) => amount))
  })
}

/**
 * Nothing lost, nothing twice, once all is quiet: each of `hashes` is on the chain exactly once; the
 * inclusions we wrote down are the chain's, to the block and wei; nothing is left in the pool or in
 * flight; no executor has a nonce gap or paid for a transaction that carried nothing; the tank paid
 * `deposit` less what its operations cost; and the ledger is what the chain's logs and receipts say, in
 * double entry too.
 * @param deposit wei that the tank had before any operation; absent where there is no tank
 */
export async function expectBalancedBooks(
  dataFolder: string,
  info: DevInfo,
  hashes: readonly Hex[],
  deposit?: bigint,
): Promise<void> {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const chain = await ofChain(info)
  expect(
    chain
      .map(({ hash }) => hash)
      .filter((hash) => hashes.includes(hash))
      .sort(),
  ).toEqual([...hashes].sort())
  expect(new Set(chain.map(({ hash }) => hash)).size).toBe(chain.length)

  await withBooks(dataFolder, async (database) => {
    const chainId = BigInt(info.chainId)
    expect(await ofBooks(database, info)).toEqual(chain)
    expect(await ledgerDifferences(database, info)).toEqual([])
    await expectCoinEntries(database, info, chain)
    const operations = await database
      .selectFrom('operations')
      .select(['hash', 'state', 'reason'])
      .where('chain_id', '=', chainId)
      .where('state', '!=', 'included')
      .execute()
    expect(operations).toEqual([])

    const bundles = await database
      .selectFrom('bundles')
      .select(['executor', 'state', 'transaction_hash'])
      .where('chain_id', '=', chainId)
      .execute()
    expect(bundles.filter(({ state }) => state === 'signed' || state === 'reverted')).toEqual([])
    const mined = new Set(chain.map(({ transactionHash }) => transactionHash))
    for (const executor of new Set(bundles.map((bundle) => bundle.executor))) {
      const own = bundles.filter(
        (bundle) => bundle.executor === executor && mined.has(bundle.transaction_hash ?? '0x'),
      )
      const address = executor
      expect(await client.getTransactionCount({ address, blockTag: 'latest' })).toBe(own.length)
      expect(await client.getTransactionCount({ address, blockTag: 'pending' })).toBe(own.length)
    }
  })

  if (deposit === undefined) return
  const paid = chain
    .filter(({ paymaster }) => paymaster === info.tanks['0.6'])
    .reduce((sum, { cost }) => sum + cost, 0n)
  expect(await tankDeposit(info)).toBe(deposit - paid)
}
