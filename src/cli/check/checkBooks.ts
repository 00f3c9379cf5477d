import type { Hex } from 'viem'
import { decodeEventLog, formatEther, parseAbi } from 'viem/utils'
import { MAX_CALLS_PER_BATCH, type NodeClient } from '../../chain/nodeClient.js'
import { canonicalBlocks, getBlock, getTransactionReceipts } from '../../chain/nodeReads.js'
import type { Database } from '../../db/database.js'
import { depositOf } from '../../paymaster/entryPointDeposit.js'
import {
  type BookedInclusion,
  countDisagreements,
  followedBlocks,
  newestInclusions,
  reservedByTank,
} from '../../records/books.js'
import { findBrokenAudit } from '../../tenants/audit.js'
import { type Finding, reporterOf } from './finding.js'

/** The newest inclusions of a chain that are compared with it. */
const MOST_INCLUSIONS = 2_000

const eventAbi = parseAbi([
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
])

/** Whether the books of a database agree with themselves. */
export async function checkLedger(database: Database): Promise<Finding[]> {
  const report = reporterOf('database')
  const { charged, credited, locked } = await countDisagreements(database)
  const broken = await findBrokenAudit(database)
  const faults = [
    charged > 0n && `${charged} sponsorships were charged otherwise than their operations cost`,
    credited > 0n && `the credit of ${credited} funds is not the sum of what was booked`,
    locked > 0n && `${locked} tanks have less reserved than their sponsorships may take`,
    broken !== undefined && `the audit log was changed at entry ${broken}, or before it`,
  ].filter((text) => text !== false)
  if (faults.length === 0) return [report.ok('ledger and audit log are intact')]
  return faults.map((text) => report.fault(text, 'use an earlier backup, and report this'))
}

/** Whether the books of a chain are what the chain says. */
export async function checkBooks(
  node: NodeClient,
  chainId: number,
  database: Database,
): Promise<Finding[]> {
  const report = reporterOf('nodes', chainId)
  const answered = Number(await node.request<Hex>('eth_chainId', []))
  if (answered !== chainId)
    return [report.fault(`the node answers for chain ${answered}`, 'correct rpcUrls')]
  return [
    ...(await checkBlocks(node, chainId, database)),
    await checkInclusions(node, chainId, database),
    ...(await checkDeposits(node, chainId, database)),
  ]
}

/** The blocks that the service followed last: another chain with the same id has none of them. */
async function checkBlocks(
  node: NodeClient,
  chainId: number,
  database: Database,
): Promise<Finding[]> {
  const report = reporterOf('nodes', chainId)
  const known = await followedBlocks(database, chainId, MAX_CALLS_PER_BATCH)
  const [newest] = known
  if (newest === undefined) return []
  const numbers = known.map(({ number }) => number)
  const blocks = await canonicalBlocks(node, numbers)
  const found = known.filter(({ number, hash }) => blocks.get(number)?.hash === hash)
  if (found.length === 0)
    return [
      report.fault(
        `none of the ${known.length} blocks that were followed last is on this chain`,
        'use a node of the chain from which the backup comes',
      ),
    ]
  const head = await getBlock(node, 'latest')
  const since = head === undefined ? 0n : head.number - newest.number
  return [report.ok(`it is the same chain, ${since} blocks after the backup`)]
}

/** The newest inclusions, one by one: the block, what was charged, whether the call succeeded. */
async function checkInclusions(
  node: NodeClient,
  chainId: number,
  database: Database,
): Promise<Finding> {
  const report = reporterOf('nodes', chainId)
  const booked = await newestInclusions(database, chainId, MOST_INCLUSIONS)
  const onChain = new Map<Hex, Omit<BookedInclusion, 'hash'>>()
  const transactions = [...new Set(booked.map(({ transactionHash }) => transactionHash))]
  for (let at = 0; at < transactions.length; at += MAX_CALLS_PER_BATCH) {
    const hashes = transactions.slice(at, at + MAX_CALLS_PER_BATCH)
    for (const receipt of await getTransactionReceipts(node, hashes))
      for (const log of receipt.logs) {
        const args = outcomeOf(log)
        if (args === undefined) continue
        const { transactionHash, blockHash } = receipt
        const { success, actualGasCost: cost } = args
        onChain.set(args.userOpHash, { transactionHash, blockHash, cost, success })
      }
  }
  const wrong = booked.filter(({ hash, ...books }) => {
    const found = onChain.get(hash)
    return (Object.keys(books) as (keyof typeof books)[]).some((key) => found?.[key] !== books[key])
  })
  const [first] = wrong
  if (first === undefined)
    return report.ok(`${booked.length} operations are on the chain as the books have them`)
  return report.fault(
    `${wrong.length} of ${booked.length} operations are not on the chain as the books have them, ${first.hash} for one`,
    'where a reorganisation took them, a service that starts on the backup corrects its books; else report this',
  )
}

function outcomeOf({ topics, data }: { readonly topics: readonly Hex[]; readonly data: Hex }) {
  try {
    return decodeEventLog({ abi: eventAbi, topics: [...topics] as [Hex, ...Hex[]], data }).args
  } catch {
    return undefined
  }
}

/** What signed sponsorships may still take from each tank, against its deposit now. */
async function checkDeposits(
  node: NodeClient,
  chainId: number,
  database: Database,
): Promise<Finding[]> {
  const report = reporterOf('money', chainId)
  const tanks = await reservedByTank(database, chainId)
  const findings = await Promise.all(
    tanks.map(async ({ address, entryPoint, reserved }) => {
      const deposit = await depositOf(node, entryPoint, address)
      if (deposit >= reserved) return []
      const text = `the tank ${address} has ${formatEther(deposit)} deposited, and signed sponsorships may take ${formatEther(reserved)}`
      return [report.warning(text, 'fund it with purser tank deposit')]
    }),
  )
  return findings.flat()
}
