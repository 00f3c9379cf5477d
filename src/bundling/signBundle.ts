import { keccak256 } from 'viem'
import { getTransactionCount } from '../chain/nodeReads.js'
import { faultPoint } from '../faults.js'
import {
  addAttempt,
  createBundle,
  type NewAttempt,
  type OpenBundle,
  openBundles,
} from '../store/bundles.js'
import { claimOperations } from '../store/operations.js'
import type { BundleDraft } from './assembleBundle.js'
import type { BundlingContext } from './bundlingContext.js'
import type { BundleTransaction, Executor } from './executors.js'

/**
 * Signs a bundle and, in one transaction before anyone else sees it, stores its bytes and takes its
 * operations out of the pool. Undefined when one of them was replaced meanwhile; nothing has changed
 * then.
 */
export async function signBundle(
  context: BundlingContext,
  executor: Executor,
  draft: BundleDraft,
): Promise<OpenBundle | undefined> {
  const { definition, database } = context
  const { chainId } = definition
  const { entryPoint, hashes, data, gas, fees } = draft
  const nonce = await nextNonce(context, executor)
  const transaction = { chainId, nonce, to: entryPoint.address, data, gas, ...fees }
  const attempt = await signAttempt(executor, transaction)
  const bundle = {
    entryPoint: entryPoint.address,
    executor: executor.address,
    nonce: BigInt(nonce),
  }
  try {
    const id = await database.transaction().execute(async (trx) => {
      const id = await createBundle(trx, { chainId, ...bundle })
      await addAttempt(trx, chainId, id, attempt)
      if ((await claimOperations(trx, chainId, hashes, id)) < hashes.length) throw new Superseded()
      faultPoint('bundle:claimed')
      return id
    })
    return { id, ...bundle, attempts: [{ ...attempt, age: 0 }] }
  } catch (error) {
    if (error instanceof Superseded) return undefined
    throw error
  }
}

export async function signAttempt(
  executor: Executor,
  transaction: BundleTransaction,
): Promise<NewAttempt> {
  const raw = await executor.sign(transaction)
  const { maxFeePerGas, maxPriorityFeePerGas } = transaction
  return { hash: keccak256(raw), raw, maxFeePerGas, maxPriorityFeePerGas }
}

/** After the chain's and after every bundle that is still open: those nonces are spoken for. */
async function nextNonce(
  { definition, database, node }: BundlingContext,
  { address }: Executor,
): Promise<number> {
  const [mined, open] = await Promise.all([
    getTransactionCount(node, address),
    openBundles(database, definition.chainId),
  ])
  const spoken = open.filter(({ executor }) => executor === address)
  return Math.max(mined, ...spoken.map(({ nonce }) => Number(nonce) + 1))
}

/** Rolls the transaction back. */
class Superseded extends Error {}
