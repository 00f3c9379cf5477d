import type { Hex } from 'viem'
import type { DataFeeKind } from '../../chain/definition/dataFee.js'
import type { Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import { fromHex } from '../../evm/index.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import { dataPriceIn } from '../../gas/dataPriceAt.js'
import { receiptDataFee } from '../../gas/receiptDataFee.js'
import { rawTransactions } from '../../store/outbox/bundles.js'
import type { BundlingContext } from '../bundlingContext.js'

/**
 * wei that the chain took of transactions of ours beside their gas, by hash: as their receipts tell, else by
 * the prices in their blocks, for nodes whose receipts lack those fields. A difference between the two is logged: it
 * means that operations are priced wrongly from now on.
 * @param blocks the blocks of the receipts, by number
 */
export async function readDataFees(
  context: Pick<BundlingContext, 'definition' | 'database' | 'node' | 'logger'>,
  receipts: readonly TransactionReceipt[],
  blocks: ReadonlyMap<bigint, Head>,
): Promise<ReadonlyMap<Hex, bigint>> {
  const { definition, database, node, logger } = context
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
    const price = await priceIn(node, dataFee, block, stated !== undefined)
    const computed =
      price === undefined || price.isInsideGas
        ? undefined
        : price.feeOf(price.sizeOf(fromHex(raw))) + price.operatorFeeOf(gasUsed)
    const fee = stated ?? computed
    if (fee !== undefined) fees.set(transactionHash, fee)
    if (fee !== computed && computed !== undefined && !isUpperBound(dataFee))
      logger.error(
        { transactionHash, charged: fee, computed },
        'the chain took another data fee than Purser computes: a fork may have changed its formula',
      )
  }
  return fees
}

/** Scroll compresses with zstd; the plain size of a transaction only bounds its fee. */
function isUpperBound(dataFee: DataFeeKind): boolean {
  return dataFee === 'scroll'
}

/** The prices in a block. Where they only serve to compare, a node that has forgotten its state does no harm. */
async function priceIn(
  node: NodeClient,
  dataFee: DataFeeKind,
  block: Head,
  isOptional: boolean,
): Promise<DataPrice | undefined> {
  try {
    return await dataPriceIn(node, dataFee, block)
  } catch (error) {
    if (isOptional && error instanceof NodeRpcError) return undefined
    throw error
  }
}
