import type { Address, Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import type {
  ExecutorSigner,
  ExecutorTransaction,
} from '../../chain/signing/executorTransaction.js'
import { keccak } from '../../erc4337/encoding/keccak.js'
import type { Fees } from '../../erc4337/fees.js'
import type { NewAttempt } from '../outbox/bundles.js'

/**
 * A signed transaction as the outbox keeps it. `noop`: it only uses the nonce up. `dataReserve`: wei for its
 * data, see `DataCost`.
 */
export async function signAttempt(
  signer: ExecutorSigner,
  transaction: ExecutorTransaction,
  noop = false,
  dataReserve = 0n,
): Promise<NewAttempt> {
  const raw = await signer.signTransaction(transaction)
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  const maxCost = transactionCost(transaction) + dataReserve
  const hash: Hex = `0x${keccak(raw.slice(2))}`
  return { hash, raw, maxFeePerGas, maxPriorityFeePerGas, maxCost, noop }
}

/** The most wei that a transaction can take from its sender. */
export function transactionCost({
  gas,
  maxFeePerGas,
  value = 0n,
}: Pick<ExecutorTransaction, 'gas' | 'maxFeePerGas' | 'value'>): bigint {
  return gas * maxFeePerGas + value
}

type Transfer = {
  readonly chainId: number
  readonly from: Address
  readonly to: Address
  /** wei */
  readonly value: bigint
  readonly data?: Hex
  readonly nonce: bigint
  readonly fees: Fees
}

/**
 * A transaction that moves `value` and, without data, calls nothing; from an account to itself and without value it
 * only uses a nonce up. The node estimates its gas: chains that charge for data take more than 21,000.
 * @throws NodeRpcError when it would fail
 */
export async function transferTransaction(
  node: NodeClient,
  { chainId, from, to, value, data = '0x', nonce, fees }: Transfer,
): Promise<ExecutorTransaction> {
  const call = { from, to, data, value: `0x${value.toString(16)}` }
  const gas = BigInt(await node.request<Hex>('eth_estimateGas', [call]))
  return { chainId, nonce: Number(nonce), to, data, value, gas, ...fees }
}
