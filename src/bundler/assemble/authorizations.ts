import type { Address } from 'viem'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { readDelegables } from '../../chain/delegations.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { getTransactionCount } from '../../chain/nodeReads.js'
import { type Drop, type StoredOperation, sendersInFlight } from '../../mempool/pool/operations.js'
import { authorizationEffect } from '../../simulation/authorization.js'
import type { BundlingContext } from '../bundlingContext.js'
import { dropFromPool } from './dropFromPool.js'
import type { Assembly } from './steps.js'

/**
 * The operations whose authorization (EIP-7702) is none, in place, or is sure to apply if nobody but its sender interferes:
 * - nothing else of the sender is in flight, on any EntryPoint, and nothing goes while one of its authorizations is: either
 *   could change what the other runs;
 * - no transaction of the sender waits at the node: it would use the nonce up;
 * - the operation goes alone. Its sender can still raise the nonce in the same block, and a bundle that reverts then
 *   has no operations of others, and costs little (`requireSmallDelegation`).
 * - the executor's signer knows transactions with authorizations.
 * The best operation decides whether the bundle is of that kind; one that has waited for `maxBundleWait` goes first.
 */
export async function passAuthorizations(
  context: BundlingContext,
  {
    waiting,
    executor,
    entryPoint,
    open,
  }: Pick<Assembly, 'waiting' | 'executor' | 'entryPoint' | 'open'>,
  selected: readonly StoredOperation[],
): Promise<readonly StoredOperation[]> {
  const { node, database, definition, signers } = context
  const { settled, early, drops } = await settleAuthorizations(node, selected)
  await dropFromPool(context, drops)
  const senders = settled.map(({ operation }) => operation.sender)
  // Nothing of theirs is in flight on this EntryPoint: see `pooledOperations`.
  const mayBeInFlight = open.some(
    ({ entryPoint: other }) => other !== null && other !== entryPoint.address,
  )
  const inFlight = mayBeInFlight
    ? await sendersInFlight(database, definition.chainId, senders)
    : new Map<Address, boolean>()
  const canSign = signers.find(({ address }) => address === executor)?.signsAuthorizations === true
  const ready: StoredOperation[] = []
  for (const stored of settled) {
    const delegates = inFlight.get(stored.operation.sender)
    const isFree = carriesAuthorization(stored)
      ? canSign && delegates === undefined
      : delegates !== true
    ;(isFree ? ready : early).push(stored)
  }
  for (const { hash } of early) waiting.add(hash)

  const [best] = ready
  const lone = ready.find(
    (stored) => carriesAuthorization(stored) && (stored === best || isOverdue(stored, definition)),
  )
  if (lone === undefined) return ready.filter((stored) => !carriesAuthorization(stored))
  const { sender, authorization } = lone.operation
  const pending = await getTransactionCount(node, sender, 'pending')
  if (BigInt(pending) === authorization?.nonce) return [lone]
  waiting.add(lone.hash)
  return ready.filter((stored) => !carriesAuthorization(stored))
}

function carriesAuthorization({ operation }: Pick<StoredOperation, 'operation'>): boolean {
  return operation.authorization !== undefined
}

/** Whether an operation has waited for others to share a bundle with as long as it may. */
export function isOverdue(
  { receivedAt }: Pick<StoredOperation, 'receivedAt'>,
  { maxBundleWait }: Pick<ChainDefinition, 'maxBundleWait'>,
): boolean {
  return Date.now() - receivedAt.getTime() >= maxBundleWait
}

/**
 * Compares authorizations with the senders' nonces and code on the latest block: a bundle carries no
 * tuple that the chain would skip. An operation goes without its tuple when the delegation is in place,
 * and waits when the nonce of the tuple is to come. Otherwise the tuple can never be valid again and the
 * operation is dropped, unless it was included meanwhile, which the index finds out.
 */
async function settleAuthorizations(node: NodeClient, operations: readonly StoredOperation[]) {
  /** Operations in their order; an authorization that is in place already is left out. */
  const settled: StoredOperation[] = []
  /** Operations whose accounts have not reached the nonce of the authorization yet. */
  const early: StoredOperation[] = []
  const drops: Drop[] = []
  const delegating = operations.filter(carriesAuthorization)
  const senders = delegating.map(({ operation }) => operation.sender)
  const accounts = await readDelegables(node, senders)
  for (const stored of operations) {
    const { hash, operation } = stored
    const { authorization } = operation
    const account = accounts[delegating.indexOf(stored)]
    if (authorization === undefined || account === undefined) {
      settled.push(stored)
      continue
    }
    const effect = authorizationEffect(authorization, account)
    if (effect === 'applies') settled.push(stored)
    else if (effect === 'inPlace') {
      settled.push({ ...stored, operation: { ...operation, authorization: undefined } })
    } else if (effect === 'early') early.push(stored)
    else {
      const reason = `eip7702Auth: it has nonce ${authorization.nonce}, the sender's account is at ${account.nonce} and does not delegate to ${authorization.address}`
      drops.push({ hash, code: 'STALE_AUTHORIZATION', reason })
    }
  }
  return { settled, early, drops }
}
