import type { Address, Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../../chain/nodeErrors.js'
import { sendRawTransaction } from '../../chain/nodeReads.js'
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

/**
 * The result of sending a signed transaction:
 * - `sent`: the node has it;
 * - `settled`: the nonce is used, by this transaction or another one: receipts say by which;
 * - `terminal`: the operations make the transaction too big or too expensive for any block, or of a type that the
 *   node does not know;
 * - `neutral`: the node refuses it now, for a reason that lies in no operation (too cheap,
 *   executor out of funds, pool full, wrong chain id);
 * - `indeterminate`: no answer, or one that is not understood: the node may or may not have it.
 *
 * After `neutral` and `indeterminate` the transaction stays that of its bundle and is sent again.
 */
export type BroadcastResult = {
  readonly kind: 'sent' | 'settled' | 'terminal' | 'neutral' | 'indeterminate'
  readonly reason?: string
}

export async function broadcast(node: NodeClient, raw: Hex): Promise<BroadcastResult> {
  try {
    await sendRawTransaction(node, raw)
    return { kind: 'sent' }
  } catch (error) {
    if (error instanceof NodeRpcError) return classifyRefusal(error.message, raw)
    if (error instanceof NodeUnavailableError) {
      return { kind: 'indeterminate', reason: error.message }
    }
    throw error
  }
}

/**
 * The meaning of a node's refusal of a transaction. A refusal that is not known to be final does not count as final.
 * A type that the node does not know is the fault of the operations that brought authorizations (EIP-7702): any other
 * bundle is of the type that the chain has taken before.
 */
export function classifyRefusal(reason: string, raw: Hex): BroadcastResult {
  if (raw.startsWith(DELEGATING) && unknownType.test(reason)) return { kind: 'terminal', reason }
  if (alreadyKnown.test(reason)) return { kind: 'sent' }
  if (nonceUsed.test(reason)) return { kind: 'settled', reason }
  if (final.test(reason)) return { kind: 'terminal', reason }
  if (notNow.test(reason)) return { kind: 'neutral', reason }
  return { kind: 'indeterminate', reason }
}

/** The type of transactions with authorizations. */
const DELEGATING = '0x04'

const unknownType = /transaction type/i
const alreadyKnown =
  /already known|already imported|known transaction|already in (?:the )?(?:mem)?pool/i
const nonceUsed = /nonce (?:is )?too low|old nonce|nonce already used/i
const final =
  /intrinsic gas too low|transaction requires at least \d+ gas|exceeds block gas limit|gas limit (?:is )?too (?:high|large)|exceeds (?:the )?transaction gas cap|gas limit too high|oversized data|max initcode size/i
const notNow =
  /underpriced|insufficient funds|enough funds|is too low for the next block|less than block base fee|fee too low|pool is full|nonce too high|nonce gap|chain id|transaction type|too many (?:pending|requests)|rate limit|limit exceeded|exceeds the configured cap/i
