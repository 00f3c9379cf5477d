import type { Address, Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { ExecutorTransaction } from '../../signing/executorTransaction.js'

type Transfer = {
  readonly chainId: number
  readonly from: Address
  readonly to: Address
  /** wei */
  readonly value: bigint
  readonly nonce: bigint
  readonly fees: Fees
}

/**
 * A transaction that moves `value` and calls nothing; from an account to itself and without value it
 * only uses a nonce up. The node estimates its gas: chains that charge for data take more than 21,000.
 * @throws NodeRpcError when it would fail
 */
export async function transferTransaction(
  node: NodeClient,
  { chainId, from, to, value, nonce, fees }: Transfer,
): Promise<ExecutorTransaction> {
  const call = { from, to, value: `0x${value.toString(16)}` }
  const gas = BigInt(await node.request<Hex>('eth_estimateGas', [call]))
  return { chainId, nonce: Number(nonce), to, data: '0x', value, gas, ...fees }
}
