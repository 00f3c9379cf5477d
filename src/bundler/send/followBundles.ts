import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { faultPoint } from '../../base/faults.js'
import { type BroadcastResult, broadcast } from '../../chain/broadcast.js'
import { type ComingBlock, comingBlock } from '../../chain/comingBlock.js'
import { type Head, headRequest } from '../../chain/head.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { provenBatch } from '../../chain/nodeReads.js'
import type { ExecutorTransaction } from '../../chain/signing/executorTransaction.js'
import type { Fees } from '../../erc4337/fees.js'
import { type DataCost, dataCostOfRaw, dataSteps } from '../../gas/dataGas.js'
import { afterSteps, dataPriceAt } from '../../gas/dataPrice.js'
import { bundleCharges } from '../../gas/preVerificationGas.js'
import { operationsInBundle } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { isOvertaken } from '../dataFees.js'
import { type ExecutorState, readExecutorStates } from '../executorStatus.js'
import { assessBundle } from '../fees/assessBundle.js'
import { resubmissionFees, takeoverFees } from '../fees/bundleFees.js'
import { ceilingWait, executorFees, isUnderCeiling } from '../feeCeiling.js'
import type { DueWork } from '../outbox/dueWork.js'
import {
  type OpenBundle,
  type OpenView,
  openSince,
  rawTransaction,
  viewOpen,
} from '../outbox/bundles.js'
import {
  abandonBundle,
  MAX_ATTEMPTS,
  publishBundle,
  refuseBundle,
  storeAttempt,
} from '../outbox/outbox.js'
import { signAttempt, transferTransaction } from './attempts.js'
import { bundleFailure, followRelayed, keptUntil, sendingConditions } from './followRelayed.js'
import { type Lane, newestAttempt, planLane } from './lanes.js'
import { noteTrouble } from './noteTrouble.js'

/** Our accounts and bundles, as the chain has them at one head. */
export type ChainView = OpenView & {
  readonly head: Head
  /** What the database held to be done when the head came. */
  readonly due: DueWork
  readonly states: ReadonlyMap<Address, ExecutorState>
}

/** The same after its lanes were followed. */
export type Followed = ChainView & {
  /** Accounts with a transaction that the node did not take: they send nothing further for now. */
  readonly blocked: ReadonlySet<Address>
  /** Why nothing new is sent, and no fee is raised, for now; see `ceilingWait`. */
  readonly wait: string | undefined
  /** What `lanesOf` gives, until a change of ours other than a further bundle. */
  readonly lanes: { bundles: readonly OpenBundle[] | undefined }
}

/** The bundles of the lanes as they are now: those that were open since the view. Only who follows it changes them. */
export async function lanesOf(
  { database, definition }: Pick<BundlingContext, 'database' | 'definition'>,
  { lanes, ...view }: Followed,
): Promise<readonly OpenBundle[]> {
  lanes.bundles ??= await openSince(database, definition.chainId, view)
  return lanes.bundles
}

/** The state that the index has reached at `head`, to be read before the index goes on. */
export async function viewChain(
  context: BundlingContext,
  head: Head,
  due: DueWork,
): Promise<ChainView> {
  const { database, definition, node, signers, treasury } = context
  const { newestBundle, hasOpenBundles } = due
  // A bundle that was signed since has a higher id.
  const { open, newest } = hasOpenBundles
    ? await viewOpen(database, definition.chainId)
    : { open: [], newest: newestBundle }
  const ours = [...signers, ...(treasury ? [treasury] : [])].map(({ address }) => address)
  const addresses = [...new Set([...ours, ...open.map(({ executor }) => executor)])]
  const states = await readExecutorStates(node, head, addresses)
  return { head, due, states, open, newest }
}

/**
 * Takes each open bundle one step further; see `planLane`. The index may go on meanwhile: a bundle that it settles is
 * left alone by whatever was planned for it.
 */
export async function followBundles(context: BundlingContext, view: ChainView): Promise<Followed> {
  const { database, definition, node } = context
  const { head, states } = view
  const blocked = new Set<Address>()
  const wait = await ceilingWait(context, head)
  const open = await openSince(database, definition.chainId, view)
  const followed = { ...view, blocked, wait, lanes: { bundles: open } }
  if (open.length === 0) return followed

  const knownToNode = await knownTransactions(context, open, head)
  const { fast } = await executorFees(context, head)
  const at = { head, fast, wait, soon: await comingBlock(node, head, SOON_BLOCKS), knownToNode }
  let hasChanged = false
  for (const { address: executor, mined } of states.values()) {
    const lane = { executor, mined, open: open.filter((bundle) => bundle.executor === executor) }
    const { allTaken, isChanged } = await tryFollowLane(context, lane, at)
    if (!allTaken) blocked.add(executor)
    if (isChanged) hasChanged = true
  }
  return hasChanged ? { ...followed, lanes: { bundles: undefined } } : followed
}

/** Blocks in which a transaction that the node has may be mined before it can be replaced. */
const SOON_BLOCKS = 2

/** The state of the chain and the node at which lanes are followed. */
type Following = {
  readonly head: Head
  /** The advised fees of the tier `fast`. */
  readonly fast: Fees
  readonly wait: Followed['wait']
  readonly soon: ComingBlock
  readonly knownToNode: ReadonlySet<Hex>
}

const NOT_FOLLOWED = 'the bundles of an executor cannot be replaced'

/**
 * The same as `followLane`. An executor whose key cannot sign, or for which the node refuses a request, sends nothing until
 * the next head, and keeps no other back.
 */
async function tryFollowLane(
  context: BundlingContext,
  lane: Lane,
  at: Following,
): ReturnType<typeof followLane> {
  const { executor } = lane
  try {
    const followed = await followLane(context, lane, at)
    context.problems.end(executor, NOT_FOLLOWED)
    return followed
  } catch (error) {
    noteTrouble(context, NOT_FOLLOWED, { executor }, error)
    return { allTaken: false, isChanged: true }
  }
}

/** Carries out the plan of a lane. Returns whether the node has taken all its transactions, and whether a bundle was touched. */
async function followLane(
  context: BundlingContext,
  lane: Lane,
  at: Following,
): Promise<{ readonly allTaken: boolean; readonly isChanged: boolean }> {
  const { definition, relay } = context
  const { resubmitAfter, maxBundlesPerExecutor } = definition
  const { head, fast, wait, soon, knownToNode } = at
  const sound: OpenBundle[] = []
  for (const bundle of lane.open) {
    const isSound = bundle.nonce < lane.mined || !(await isOvertaken(context, head, bundle, fast))
    if (isSound) sound.push(bundle)
    else await cancel(context, at, bundle, 'the L1 price rose above what its operations pay')
  }
  const looked = await followRelayed(context, head, { ...lane, open: sound }, fast)
  const { open, failing, outdated } = looked
  if (failing) await cancel(context, at, failing.bundle, failing.reason)
  for (const bundle of outdated) await send(context, bundle)
  const { steps, stuck } = planLane(
    { ...lane, open },
    {
      isKnown: ({ hash }) => knownToNode.has(hash),
      isRelayed: (bundle) =>
        bundle.relayedFrom !== undefined && relay?.answerTo(newestAttempt(bundle).hash) === 'taken',
      soon,
      resubmitAfter,
      fast,
      maxFillers: maxBundlesPerExecutor,
    },
  )
  const isChanged =
    open.length < lane.open.length ||
    open.some((bundle, place) => bundle !== lane.open[place]) ||
    outdated.length + steps.length + stuck.length > 0
  let allTaken = true
  for (const step of steps) {
    if (step.kind === 'abandon') await abandon(context, step.bundle, step.reason)
    else if (step.kind === 'cancel') await cancel(context, at, step.bundle, step.reason)
    else if (!isTaken(await send(context, step.bundle))) allTaken = false
  }
  // Until the chain asks for less, a higher fee under the ceiling is of no use.
  if (wait === undefined) for (const bundle of stuck) if (await resubmit(context, at, bundle)) break
  return { allTaken, isChanged }
}

/** Broadcasts a bundle's newest transaction; one that can never be included ends the bundle. */
export async function send(context: BundlingContext, bundle: OpenBundle): Promise<BroadcastResult> {
  const { database, definition } = context
  const { hash } = newestAttempt(bundle)
  const raw = await rawTransaction(database, definition.chainId, hash)
  faultPoint('broadcast:before')
  const isPublic = bundle.relayedFrom === undefined
  // The relay gets what is public too: it may still have another transaction for the nonce.
  if (isPublic && context.relay?.way === 'private')
    sendToRelay(context, bundle, raw).catch((error: unknown) => {
      context.logger.error({ err: error, hash }, 'a public bundle was not sent to the relay')
    })
  const result = isPublic
    ? await broadcast(context.node, raw, context.metrics)
    : await sendToRelay(context, bundle, raw)
  faultPoint('broadcast:after')
  const { kind, reason } = result
  const { id, executor, nonce } = bundle
  const facts = { bundleId: id, executor, nonce, hash }
  const refused = `the ${isPublic ? 'node' : 'relay'} did not accept the bundle`
  if (kind === 'terminal') await refuse(context, bundle, reason)
  else if (kind === 'sent') {
    context.problems.end(hash, refused)
    context.logger.debug(facts, 'bundle broadcast')
  } else context.problems.warn(hash, refused, { ...facts, kind, reason })
  return result
}

/** Sends a bundle's newest transaction to the relay. */
async function sendToRelay(
  context: BundlingContext,
  bundle: OpenBundle,
  raw: Hex,
): Promise<BroadcastResult> {
  const isPublic = bundle.relayedFrom === undefined
  const until = keptUntil(context, bundle)
  const conditions = () => sendingConditions(context, bundle, until)
  const attempt = { ...newestAttempt(bundle), raw }
  const result = await context.relay?.send(attempt, isPublic ? undefined : until, conditions)
  return result ?? { kind: 'indeterminate', reason: 'no relay is configured any more' }
}

/** Whether further transactions may follow: not behind one that the node does not have. */
export function isTaken({ kind }: BroadcastResult): boolean {
  return kind === 'sent' || kind === 'settled'
}

/**
 * Hashes of the bundles' transactions, those that any node has in its pool or chain. The head is asked for in the same
 * exchange: a backend that is behind it knows nothing of what was mined since.
 * @throws NodeUnavailableError when such a one answers
 */
async function knownTransactions(
  { node }: BundlingContext,
  open: readonly OpenBundle[],
  head: Head,
): Promise<ReadonlySet<Hex>> {
  const hashes = open.flatMap(({ attempts }) => attempts.map(({ hash }) => hash))
  const method = 'eth_getTransactionByHash'
  const calls = hashes.map((hash) => ({ method, params: [hash] }))
  const answers = await provenBatch(node, [headRequest(head.hash)], calls, ([block]) => {
    if (!block) throw new NodeUnavailableError(`${method}: no block ${head.hash}`)
  })
  const known = await Promise.all(
    answers.map(async (answer, i) => {
      if (answer !== null) return true
      // One node may have refused, or lost, what the others have.
      const others = node.nodes().length > 1 ? await node.survey<unknown>(method, [hashes[i]]) : []
      return others.some((other) => other !== null)
    }),
  )
  return new Set(hashes.filter((_, i) => known[i]))
}

/** Ends a bundle that cannot be included any more; its operations try again. */
async function abandon(
  { database, logger, metrics }: BundlingContext,
  { id, nonce, executor }: OpenBundle,
  reason: string,
): Promise<void> {
  const released = await abandonBundle(database, id)
  metrics.count('purser_bundles_total', { state: 'abandoned' })
  logger.warn({ bundleId: id, executor, nonce, reason, released }, 'bundle abandoned')
}

/** Ends a bundle that the node will never take; its operations are retried in smaller bundles. */
async function refuse(
  { database, logger, metrics }: BundlingContext,
  { id, nonce, executor }: OpenBundle,
  reason: string | undefined,
): Promise<void> {
  const blamed = await refuseBundle(database, id, MAX_ATTEMPTS)
  metrics.count('purser_bundles_total', { state: 'abandoned' })
  logger.warn({ bundleId: id, executor, nonce, reason, blamed }, 'the node refused the bundle')
}

/**
 * Takes a bundle back. A relay that has it alone may say that it will not include it: that is free. Else a
 * transaction that does nothing is sent in its place, publicly, and its operations stay with it until one
 * of the two is mined: only then is it certain which.
 */
async function cancel(
  context: BundlingContext,
  { fast, knownToNode }: Following,
  bundle: OpenBundle,
  reason: string,
): Promise<void> {
  const { definition, database, node, logger, problems, relay, metrics } = context
  const { id, executor, nonce, relayedFrom } = bundle
  if (relayedFrom !== undefined && (await relay?.withdraw(bundle.attempts))) {
    metrics.count('purser_relay_bundles_total', { outcome: 'withdrawn' })
    return abandon(context, bundle, reason)
  }
  const raised = takeoverFees(newestAttempt(bundle), fast)
  const isKnown = bundle.attempts.some(({ hash }) => knownToNode.has(hash))
  // A node that has no transaction of it asks for no raise. Without this, its nonce would stay open for ever.
  const fees = isKnown || isUnderCeiling(definition, raised) ? raised : fast
  if (!isUnderCeiling(definition, fees)) {
    const facts = { bundleId: id, executor, nonce, reason }
    problems.warn(id, 'bundle is not cancelled: that would cost more than the fee ceiling', facts)
    return
  }
  if (relayedFrom !== undefined) await publishBundle(database, id)
  const transaction = await transferTransaction(node, {
    chainId: definition.chainId,
    from: executor,
    to: executor,
    value: 0n,
    nonce,
    fees,
  })
  if (await sendAttempt(context, { ...bundle, relayedFrom: undefined }, transaction, true))
    logger.warn({ bundleId: id, executor, nonce, reason }, 'bundle is being cancelled')
}

/**
 * Raises the fees of a stuck bundle, if it still succeeds; one that would revert is cancelled. False when
 * they cannot rise.
 */
async function resubmit(
  context: BundlingContext,
  at: Following,
  bundle: OpenBundle,
): Promise<boolean> {
  const { head, fast } = at
  const previous = newestAttempt(bundle)
  const { id, executor, nonce } = bundle
  const { node, database, definition } = context
  const raw = await rawTransaction(database, definition.chainId, previous.hash)
  const { to, data = '0x', value = 0n, gas, authorizationList } = parseTransaction(raw)
  if (!to || gas === undefined) throw new Error(`bundle ${id} holds no call`)
  const price = await dataPriceAt(node, definition.dataFee, head)
  const dataPrice = price && afterSteps(price, dataSteps.bundle)
  const charged = dataCostOfRaw(dataPrice, raw, gas)
  const fees = await raisedFees(context, bundle, data, fast, charged)
  if (fees && !previous.noop && bundle.kind === 'operations') {
    const failure = await bundleFailure(context, head, bundle, fees)
    if (failure !== undefined) {
      await cancel(context, at, bundle, `it would revert now: ${failure}`)
      return true
    }
  }
  const { chainId } = definition
  const transaction = fees && {
    chainId,
    nonce: Number(nonce),
    to: lower(to),
    data,
    value,
    gas,
    ...(authorizationList ? { authorizationList } : {}),
    ...fees,
  }
  const { noop } = previous
  if (transaction && (await sendAttempt(context, bundle, transaction, noop, charged?.reserve)))
    return true
  const facts = { bundleId: id, executor, nonce, fees: previous }
  context.problems.warn(previous.hash, 'bundle is stuck at its highest fees', facts)
  return false
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address
}

/** The next fees of a stuck bundle; undefined when they cannot rise. */
async function raisedFees(
  { database, definition, engine, entryPoints }: BundlingContext,
  bundle: OpenBundle,
  data: Hex,
  fast: Fees,
  charged: DataCost | undefined,
): Promise<Fees | undefined> {
  const previous = newestAttempt(bundle)
  if (previous.noop || bundle.kind !== 'operations') {
    // A transaction that was not taken at three times the price does not wait for a higher one.
    const isHighEnough = previous.maxFeePerGas > 3n * fast.maxFeePerGas
    const raised = takeoverFees(previous, fast)
    return isHighEnough || !isUnderCeiling(definition, raised) ? undefined : raised
  }
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  if (!entryPoint) return undefined
  const waiting = await operationsInBundle(database, bundle.id)
  const charges = bundleCharges(definition)
  const pays = await assessBundle(engine, entryPoint, waiting, data, charges, charged)
  const isAllowed = (fees: Fees) => isUnderCeiling(definition, fees) && pays(fees)
  return resubmissionFees({ previous, fast, pays: isAllowed })
}

/** Signs, stores, then sends another transaction for a bundle's nonce, if it is open. False without its key. */
async function sendAttempt(
  context: BundlingContext,
  bundle: OpenBundle,
  transaction: ExecutorTransaction,
  noop: boolean,
  dataReserve?: bigint,
): Promise<boolean> {
  const { database, definition, signers, treasury, logger, metrics } = context
  const signer = [...signers, treasury].find((key) => key?.address === bundle.executor)
  if (!signer) return false
  const attempt = await signAttempt(signer, transaction, noop, dataReserve)
  if (!(await storeAttempt(database, definition.chainId, bundle.id, attempt))) return true
  faultPoint('resubmission:committed')
  metrics.count('purser_bundle_replacements_total', { kind: noop ? 'cancel' : 'raised' })
  const { maxFeePerGas, maxPriorityFeePerGas, hash } = attempt
  const facts = { bundleId: bundle.id, nonce: bundle.nonce, hash, noop }
  logger.info({ ...facts, maxFeePerGas, maxPriorityFeePerGas }, 'bundle resubmitted')
  await send(context, { ...bundle, attempts: [...bundle.attempts, { ...attempt, age: 0 }] })
  return true
}
