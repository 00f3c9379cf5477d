import type { Hex } from 'viem'
import type { NodeClient } from '../nodeClient.js'
import { NodeUnavailableError } from '../nodeErrors.js'
import { decodeReceipt, type RawReceipt, type TransactionReceipt } from '../transactionReceipt.js'

/**
 * The receipts, in their order. Where a node does not tell in them what gas cost, which those without EIP-1559 leave
 * out, the price is that of the transaction, read in one batch: without it a bundle would be booked as free.
 * @throws NodeUnavailableError when the node has a receipt but not its transaction
 */
export async function decodeReceipts(
  node: NodeClient,
  raws: readonly RawReceipt[],
): Promise<TransactionReceipt[]> {
  const unpriced = raws.filter(({ effectiveGasPrice }) => !effectiveGasPrice)
  const prices = await gasPrices(
    node,
    unpriced.map(({ transactionHash }) => transactionHash),
  )
  return raws.map((raw) => {
    const effectiveGasPrice = raw.effectiveGasPrice ?? prices.get(raw.transactionHash)
    if (effectiveGasPrice) return decodeReceipt({ ...raw, effectiveGasPrice })
    throw new NodeUnavailableError(`no transaction ${raw.transactionHash}, which has a receipt`)
  })
}

/** What the transactions offer for gas, by hash; without those that the node does not have. */
async function gasPrices(node: NodeClient, hashes: readonly Hex[]): Promise<ReadonlyMap<Hex, Hex>> {
  if (hashes.length === 0) return new Map()
  const answers = await node.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
  )
  return new Map(
    answers.flatMap((answer, at): [Hex, Hex][] => {
      if (!answer.ok) throw answer.error
      const { gasPrice } = (answer.result ?? {}) as { readonly gasPrice?: Hex }
      const hash = hashes[at]
      return gasPrice && hash ? [[hash, gasPrice]] : []
    }),
  )
}
