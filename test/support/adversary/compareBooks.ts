import { type Address, createPublicClient, type Hex, http, parseAbiItem } from 'viem'
import { foundry } from 'viem/chains'
import { withBooks } from '../database/books.js'
import type { Battlefield } from './battlefield.js'

const event = parseAbiItem(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
)

/** wei of all executors together. */
export async function executorWealth({ info, executors }: Battlefield): Promise<bigint> {
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const balances = await Promise.all(executors.map((address) => client.getBalance({ address })))
  return balances.reduce((sum, wei) => sum + wei, 0n)
}

/** What the chain and the books say of the same facts. */
export async function compareBooks(field: Battlefield) {
  const { info, folder, entryPoints } = field
  const client = createPublicClient({ chain: foundry, transport: http(info.rpcUrl) })
  const logs = await client.getLogs({
    address: entryPoints.map(({ address }) => address),
    event,
    fromBlock: 0n,
    strict: true,
  })
  const charged = new Map(logs.map(({ args }) => [args.userOpHash, args.actualGasCost]))
  const tanks = Object.values(info.tanks)
  const paid = logs
    .filter(({ args }) => tanks.includes(args.paymaster.toLowerCase() as Address))
    .reduce((sum, { args }) => sum + args.actualGasCost, 0n)

  const costOf = async (hash: Hex): Promise<bigint> => {
    const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash })
    return gasUsed * effectiveGasPrice
  }

  return withBooks(folder, async (database) => {
    const operations = await database
      .selectFrom('operations')
      .select(['hash', 'state', 'reason_code'])
      .orderBy('hash')
      .execute()
    const reservations = await database
      .selectFrom('reservations')
      .select(['state', 'actual_cost', 'rebate'])
      .execute()
    const bundles = await database
      .selectFrom('bundles')
      .select(['state', 'transaction_hash'])
      .execute()
    const { refused } = await database
      .selectFrom('decisions')
      .select(({ fn }) => fn.countAll<bigint>().as('refused'))
      .where('sponsored', '=', false)
      .executeTakeFirstOrThrow()
    const reverted = bundles.filter(({ state }) => state === 'reverted')
    const costs = await Promise.all(reverted.map(({ transaction_hash: hash }) => costOf(hash!)))
    return {
      /** Operations of which the books say something else than the chain. */
      contradictions: operations.filter(
        ({ hash, state }) => (state === 'included') !== charged.has(hash as Hex),
      ),
      included: operations.filter(({ state }) => state === 'included').length,
      dropped: operations.filter(({ state }) => state === 'dropped').length,
      waiting: operations.filter(({ state }) => !['included', 'dropped'].includes(state)).length,
      bundles: bundles.length,
      /** Sponsorships that were refused and are kept. */
      refused: Number(refused),
      /** Bundles that the chain undid, and what they cost their executors in wei. */
      reverted: { bundles: reverted.length, cost: costs.reduce((sum, cost) => sum + cost, 0n) },
      /** wei that the tanks paid, by the chain and by the ledger. */
      tanks: {
        chain: paid,
        ledger: reservations.reduce((sum, row) => sum + row.actual_cost + row.rebate, 0n),
      },
    }
  })
}
