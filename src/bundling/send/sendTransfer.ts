import type { Address } from 'viem'
import { faultPoint } from '../../base/faults.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { ExecutorSigner } from '../../signing/executorSigner.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { storeBundle } from '../../store/outbox/outbox.js'
import type { BundlingContext } from '../bundlingContext.js'
import { send } from './followBundles.js'
import { signAttempt } from './signAttempt.js'
import { transferTransaction } from './transferTransaction.js'

type Transfer = {
  readonly to: Address
  /** wei */
  readonly value: bigint
  readonly nonce: bigint
  readonly fees: Fees
}

/** Signs, stores, then sends a transaction without operations. */
export async function sendTransfer(
  context: BundlingContext,
  signer: ExecutorSigner,
  kind: 'filler' | 'refill',
  transfer: Transfer,
): Promise<OpenBundle> {
  const { database, definition, node } = context
  const { chainId } = definition
  const { address: executor } = signer
  const { nonce } = transfer
  const transaction = await transferTransaction(node, { chainId, from: executor, ...transfer })
  const attempt = await signAttempt(signer, transaction, kind === 'filler')
  const stored = { kind, entryPoint: null, executor, nonce, relayedFrom: undefined }
  const id = await storeBundle(database, { chainId, ...stored }, attempt, [])
  if (id === undefined) throw new Error('a transaction without operations was superseded')
  faultPoint('bundle:committed')
  const counts = { operationCount: 0, waitingCount: 0, cancelRequested: false }
  const ends = { validUntil: 0, validUntilBlock: 0n }
  const bundle: OpenBundle = {
    id,
    ...stored,
    ...counts,
    ...ends,
    attempts: [{ ...attempt, age: 0 }],
  }
  await send(context, bundle)
  return bundle
}
