import type { Hex } from 'viem'
import type { Head } from '../../chain/head.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import { fromHex } from '../../evm/index.js'
import { dataPriceIn } from '../../gas/dataPriceAt.js'
import { receiptDataFee } from '../../gas/receiptDataFee.js'
import { rawTransactions } from '../../store/outbox/bundles.js'
import type { BundlingContext } from '../bundlingContext.js'

/**
 * wei that the chain took of transactions of ours beside their gas, by hash: as their receipts tell, else by
 * the prices in their blocks, for nodes whose receipts lack those fields.
 * @param blocks the blocks of the receipts, by number
 */
export async function readDataFees(
  { definition, database, node }: Pick<BundlingContext, 'definition' | 'database' | 'node'>,
  receipts: readonly TransactionReceipt[],
  blocks: ReadonlyMap<bigint, Head>,
): Promise<ReadonlyMap<Hex, bigint>> {
  const { chainId, dataFee = 'none' } = definition
  const fees = new Map<Hex, bigint>()
  if (dataFee === 'none' || receipts.length === 0) return fees
  const hashes = receipts.map(({ transactionHash }) => transactionHash)
  const raws = await rawTransactions(database, chainId, hashes)
  for (const receipt of receipts) {
    const { transactionHash, blockNumber, gasUsed } = receipt
    const [raw, block] = [raws.get(transactionHash), blocks.get(blockNumber)]
    if (raw === undefined || block === undefined) continue
    const stated = receiptDataFee(receipt)
    if (stated !== undefined) {
      fees.set(transactionHash, stated)
      continue
    }
    const price = await dataPriceIn(node, dataFee, block)
    if (price === undefined || price.isInsideGas) continue
    const fee = price.feeOf(price.sizeOf(fromHex(raw)))
    fees.set(transactionHash, fee + price.operatorFeeOf(gasUsed))
  }
  return fees
}
