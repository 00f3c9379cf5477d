import { type Address, type Hex, parseTransaction } from 'viem'
import { adviseFees } from '../chain/fees.js'
import { getTransactionCount, type Head } from '../chain/nodeReads.js'
import { faultPoint } from '../faults.js'
import {
  type Attempt,
  addAttempt,
  blameOperations,
  closeBundle,
  type OpenBundle,
  openBundles,
  releaseOperations,
} from '../store/bundles.js'
import { operationsInBundle } from '../store/operations.js'
import { broadcast } from './broadcast.js'
import { resubmissionFees } from './bundleFees.js'
import type { BundlingContext } from './bundlingContext.js'
import type { Executor } from './executors.js'
import { maxAttempts } from './settleReceipts.js'
import { signAttempt } from './signBundle.js'

/**
 * Takes each bundle that is open after the index reached `head` one step further:
 * - its nonce is used although no receipt of ours was found: abandoned;
 * - the node does not know its transaction (restart, reorg): sent again;
 * - stuck for `resubmitAfter`: replaced with higher fees, at most once in that time.
 */
export async function followBundles(
  context: BundlingContext,
  head: Head,
  executors: readonly Executor[],
): Promise<void> {
  const { database, definition } = context
  const open = await openBundles(database, definition.chainId)
  const counts = new Map<Address, number>()
  for (const bundle of open) {
    const { executor } = bundle
    const count = counts.get(executor) ?? (await minedCount(context, executor, head))
    counts.set(executor, count)
    const newest = newestAttempt(bundle)
    const stuck = newest.age >= definition.resubmitAfter
    if (bundle.nonce < count)
      await abandon(context, bundle, 'its nonce was used by another transaction')
    else if (stuck && hasGap(bundle, open, count)) {
      await abandon(context, bundle, 'a transaction before it is missing')
    } else if (!(await isKnown(context, newest.hash))) await send(context, bundle)
    else if (stuck) await resubmit(context, head, bundle, executors)
  }
}

/** Broadcasts a bundle's newest transaction; one that can never be included ends the bundle. */
export async function send(context: BundlingContext, bundle: OpenBundle): Promise<void> {
  const { raw, hash } = newestAttempt(bundle)
  faultPoint('broadcast:before')
  const { kind, reason } = await broadcast(context.node, raw)
  faultPoint('broadcast:after')
  const { id, executor, nonce } = bundle
  const facts = { bundleId: id, executor, nonce, hash }
  if (kind === 'refused') await fail(context, bundle, reason)
  else if (kind === 'sent') context.logger.debug(facts, 'bundle broadcast')
  else context.logger.warn({ ...facts, reason }, 'the node did not take the bundle')
}

export function newestAttempt({ attempts }: OpenBundle): Attempt {
  return attempts.at(-1) ?? attempts[0]
}

/** Transactions of the executor in the chain up to `head`: what the index has seen, no more. */
function minedCount({ node }: BundlingContext, executor: Address, head: Head): Promise<number> {
  return getTransactionCount(node, executor, head.number)
}

/** Is there a nonce below the bundle's that neither the chain nor an open bundle has? */
function hasGap(bundle: OpenBundle, open: readonly OpenBundle[], count: number): boolean {
  const nonces = open
    .filter(({ executor, nonce }) => executor === bundle.executor && nonce < bundle.nonce)
    .map(({ nonce }) => nonce)
    .filter((nonce) => nonce >= count)
  return new Set(nonces).size < Number(bundle.nonce) - count
}

async function isKnown({ node }: BundlingContext, hash: Hex): Promise<boolean> {
  return (await node.request('eth_getTransactionByHash', [hash])) !== null
}

/** Ends a bundle that cannot be included any more; its operations try again. */
async function abandon(
  { database, logger }: BundlingContext,
  { id, nonce, executor }: OpenBundle,
  reason: string,
): Promise<void> {
  const released = await database.transaction().execute(async (trx) => {
    await closeBundle(trx, id, 'abandoned', null)
    return releaseOperations(trx, id)
  })
  logger.warn({ bundleId: id, executor, nonce, reason, released }, 'bundle abandoned')
}

/** Ends a bundle that the node will never take; its operations run alone next. */
async function fail(
  { database, logger }: BundlingContext,
  { id, nonce, executor }: OpenBundle,
  reason: string | undefined,
): Promise<void> {
  const blamed = await database.transaction().execute(async (trx) => {
    await closeBundle(trx, id, 'abandoned', null)
    return blameOperations(trx, id, maxAttempts)
  })
  logger.warn({ bundleId: id, executor, nonce, reason, blamed }, 'the node refused the bundle')
}

async function resubmit(
  context: BundlingContext,
  head: Head,
  bundle: OpenBundle,
  executors: readonly Executor[],
): Promise<void> {
  const { database, definition, entryPoints, node, logger } = context
  const previous = newestAttempt(bundle)
  const { id, nonce } = bundle
  const executor = executors.find(({ address }) => address === bundle.executor)
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  const waiting = await operationsInBundle(database, id)
  const { fast } = await adviseFees(node, head)
  const fees =
    executor &&
    entryPoint &&
    resubmissionFees({
      entryPoint,
      ops: waiting.map(({ operation }) => operation),
      previous,
      network: fast,
      baseFee: head.baseFee,
    })
  if (!executor || !fees) {
    logger.warn({ bundleId: id, nonce, fees: previous }, 'bundle is stuck at its highest fees')
    return
  }
  const { to, data, gas } = parseTransaction(previous.raw)
  if (!to || !data || gas === undefined) throw new Error(`bundle ${id} holds no handleOps call`)
  const { chainId } = definition
  const attempt = await signAttempt(executor, {
    chainId,
    nonce: Number(nonce),
    to,
    data,
    gas,
    ...fees,
  })
  await addAttempt(database, chainId, id, attempt)
  faultPoint('resubmission:committed')
  logger.info({ bundleId: id, nonce, hash: attempt.hash, ...fees }, 'bundle resubmitted')
  await send(context, { ...bundle, attempts: [...bundle.attempts, { ...attempt, age: 0 }] })
}
