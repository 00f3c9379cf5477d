import type { Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { greatest, smallest } from '../base/bigints.js'
import type { DataFeeKind } from '../chain/definition/chainDefinition.js'
import type { Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeRpcError } from '../chain/nodeErrors.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Fees } from '../erc4337/fees.js'
import { fromHex } from '../evm/index.js'
import { dataCostOfRaw } from '../gas/dataGas.js'
import { type DataPrice, dataPriceAt, dataPriceIn, receiptDataFee } from '../gas/dataPrice.js'
import { placeholder } from '../gas/placeholder.js'
import { bundleCharges } from '../gas/preVerificationGas.js'
import { operationsInBundle } from '../mempool/pool/operations.js'
import type { BundlingContext } from './bundlingContext.js'
import { assessBundle } from './fees/assessBundle.js'
import { takeoverFees } from './fees/bundleFees.js'
import { type OpenBundle, rawTransaction, rawTransactions } from './outbox/bundles.js'
import { newestAttempt } from './send/lanes.js'

/**
 * wei that the chain charged our transactions on top of gas, by hash: from their receipts, else by
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
  const { chainId, dataFee } = definition
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
    // Scroll compresses with zstd; the plain size of a transaction only bounds its fee.
    if (fee !== computed && computed !== undefined && dataFee !== 'scroll')
      logger.error(
        { transactionHash, charged: fee, computed },
        'the chain charged a different data fee than computed: a fork may have changed its formula',
      )
  }
  return fees
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

/** As many bytes as a signed transaction that does nothing has at most. */
const nothingBytes = fromHex(placeholder(130, 53))

/**
 * Whether the price of L1 at `head` makes a pending bundle cost more than its operations pay, by more than it
 * costs to take the bundle back. The operations then wait for the price to fall, and the operator pays no more than
 * for a transaction that does nothing.
 */
export async function isOvertaken(
  { database, definition, node, engine, entryPoints }: BundlingContext,
  head: Head,
  bundle: OpenBundle,
  fast: Fees,
): Promise<boolean> {
  const newest = newestAttempt(bundle)
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  const price = await dataPriceAt(node, definition.dataFee, head)
  if (price === undefined || entryPoint === undefined || newest.noop) return false
  const raw = await rawTransaction(database, definition.chainId, newest.hash)
  const { data = '0x', gas = 0n } = parseTransaction(raw)
  const charged = dataCostOfRaw(price, raw, gas)
  if (charged === undefined) return false
  const takenBack = costOfNothing(entryPoint, price, head, takeoverFees(newest, fast))
  const shortBy = { ...charged, wei: greatest(charged.wei - takenBack, 0n) }
  const ops = await operationsInBundle(database, bundle.id)
  const charges = bundleCharges(definition)
  const pays = await assessBundle(engine, entryPoint, ops, data, charges, shortBy)
  return !pays(newest)
}

/** wei of a transaction with these fees that does nothing. */
function costOfNothing(
  { gas }: Pick<EntryPoint, 'gas'>,
  price: DataPrice,
  { baseFee }: Head,
  fees: Fees,
): bigint {
  const nothing = BigInt(gas().transaction)
  const gasPrice = smallest(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas)
  const data = price.feeOf(price.sizeOf(nothingBytes)) + price.operatorFeeOf(nothing)
  return nothing * gasPrice + data
}
