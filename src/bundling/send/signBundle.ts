import type { ExecutorSigner } from '../../signing/executorSigner.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { storeBundle } from '../../store/outbox/outbox.js'
import type { BundleDraft } from '../assemble/assembleBundle.js'
import type { BundlingContext } from '../bundlingContext.js'
import { signAttempt } from './signAttempt.js'

/**
 * The bundle, signed for `nonce`, to be given to a relay at the block `relayedFrom` or to the public, and stored together with the claim of its operations. Undefined when
 * one of them was replaced meanwhile; nothing has changed then.
 */
export async function signBundle(
  { definition, database }: BundlingContext,
  signer: ExecutorSigner,
  nonce: bigint,
  draft: BundleDraft,
  relayedFrom: bigint | undefined,
): Promise<OpenBundle | undefined> {
  const { chainId } = definition
  const { entryPoint, hashes, data, gas, fees, authorizationList, dataReserve } = draft
  const to = entryPoint.address
  const transaction = { chainId, nonce: Number(nonce), to, data, gas, authorizationList, ...fees }
  const attempt = await signAttempt(signer, transaction, false, dataReserve)
  const bundle = {
    kind: 'operations',
    entryPoint: entryPoint.address,
    executor: signer.address,
    nonce,
    relayedFrom,
  } as const
  const id = await storeBundle(database, { chainId, ...bundle }, attempt, hashes)
  if (id === undefined) return undefined
  const counts = { operationCount: hashes.length, waitingCount: hashes.length }
  // The operations were valid long enough a moment ago; the database tells their end to the next round.
  const ends = { validUntil: 0, validUntilBlock: 0n }
  return {
    id,
    ...bundle,
    ...counts,
    ...ends,
    cancelRequested: false,
    attempts: [{ ...attempt, age: 0 }],
  }
}
