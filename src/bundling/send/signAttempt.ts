import type { Hex } from 'viem'
import { keccak } from '../../encoding/keccak.js'
import type { ExecutorSigner } from '../../signing/executorSigner.js'
import type { ExecutorTransaction } from '../../signing/executorTransaction.js'
import type { NewAttempt } from '../../store/outbox/bundles.js'

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
