import type { Hex } from 'viem'
import { greatest } from '../../base/bigints.js'
import { faultPoint } from '../../base/faults.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { Head } from '../../chain/head.js'
import type { ExecutorSigner } from '../../chain/signing/executorTransaction.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { forgetPooled, pooledEntryPoints } from '../../mempool/pool/pooledOperations.js'
import { assembleBundle, type BundleDraft } from '../assemble/assembleBundle.js'
import { type Assembly, rememberFlight } from '../assemble/steps.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { ExecutorState } from '../executorStatus.js'
import type { OpenBundle } from '../outbox/bundles.js'
import { storeBundle } from '../outbox/outbox.js'
import { signAttempt, transactionCost } from './attempts.js'
import { type Followed, isTaken, lanesOf, send } from './followBundles.js'
import { committedCost, nextNonce } from './lanes.js'
import { noteTrouble } from './noteTrouble.js'

/** Bundles of an executor that may be open, promised ones included. */
function mostOpen({ maxBundlesPerExecutor }: ChainDefinition): number {
  return 4 * maxBundlesPerExecutor
}

type Turn = {
  /** A counter that rotates the EntryPoints. */
  readonly turn: number
  /**
   * Whether the head is new. Then executors send up to `maxBundlesPerExecutor` in flight each; between heads only idle
   * ones send.
   */
  readonly freshHead: boolean
  /** The newest head, for the fees and the state of each bundle; absent = the one that was followed. */
  readonly newestHead?: () => Head
  /** Whether the lanes are to be followed before the next bundle; absent = no. */
  readonly isOver?: () => boolean
}

type SendingLane = {
  readonly signer: ExecutorSigner
  readonly state: ExecutorState
  readonly open: readonly OpenBundle[]
  /** Of them, those that no sequencer has promised to include. */
  readonly inFlight: number
}

type Sending = {
  readonly hasSent: boolean
  /** Whether operations may be left that wait for an executor with bundles in flight. */
  readonly isBusy: boolean
}

/**
 * Sends bundles while executors are free and operations are left that waited before and could not share one, by the
 * executors with the fewest in flight first. Operations that come in meanwhile share a bundle next time.
 */
export async function sendBundles(
  context: BundlingContext,
  followed: Followed,
  { turn, freshHead, newestHead = () => followed.head, isOver = () => false }: Turn,
): Promise<Sending> {
  const { definition, entryPoints } = context
  let hasSent = false
  const end = (isBusy = false): Sending => ({ hasSent, isBusy })
  if (followed.wait !== undefined) return end()
  let lanes = await sendingLanes(context, followed)
  const maxInFlight = freshHead ? definition.maxBundlesPerExecutor : 1
  // Most wakes come while all executors wait for the next head; only promises free one before.
  if (context.pending === undefined && lanes.every(({ inFlight }) => inFlight >= maxInFlight))
    return end()
  const start = turn % entryPoints.length
  const addresses = entryPoints.map(({ address }) => address)
  const pooled = await pooledEntryPoints(context.database, definition.chainId, addresses)
  /** EntryPoints with operations that waited before the round and are in no bundle of it. */
  let rotated = [...entryPoints.slice(start), ...entryPoints.slice(0, start)].filter(
    ({ address }) => pooled.has(address),
  )
  if (rotated.length === 0) return end()
  const waiting = new Set<Hex>()
  let isBusy = lanes.some(({ inFlight }) => inFlight > 0)
  for (let inFlight = 0; inFlight < maxInFlight; inFlight++) {
    const next: SendingLane[] = []
    for (const lane of lanes) {
      if (lane.inFlight !== inFlight) {
        next.push(lane)
        continue
      }
      if (rotated.length === 0) return end(isBusy)
      if (isOver()) return end()
      const open = await lanesOf(context, followed)
      const sent = await trySend(context, lane, rotated, { head: newestHead(), waiting, open })
      if (sent === 'nothing') return end()
      if (sent === 'stopped') {
        // It may be stored all the same.
        followed.lanes.bundles = undefined
        continue
      }
      hasSent = true
      isBusy = true
      followed.lanes.bundles &&= [...followed.lanes.bundles, sent.bundle]
      const { entryPoint, leavesOthers } = sent
      const others = rotated.filter((each) => each !== entryPoint)
      rotated = leavesOthers ? [...others, entryPoint] : others
      const own = [...lane.open, sent.bundle]
      if (own.length < mostOpen(definition))
        next.push({ ...lane, open: own, inFlight: inFlight + 1 })
    }
    lanes = next
  }
  return end(isBusy)
}

/** Lanes of the executors that may send: those with enough money and no transaction that is blocked. */
async function sendingLanes(context: BundlingContext, followed: Followed): Promise<SendingLane[]> {
  const { definition, signers, pending } = context
  const { states, blocked } = followed
  const open = await lanesOf(context, followed)
  const promised = open.length > 0 ? await pending?.transactions() : undefined
  const isInFlight = ({ attempts }: OpenBundle) => !attempts.some(({ hash }) => promised?.has(hash))
  return signers.flatMap((signer) => {
    const { address } = signer
    const state = states.get(address)
    if (!state || blocked.has(address)) return []
    if (state.balance < definition.executorMinBalance) return []
    const own = open.filter(({ executor }) => executor === address)
    // A node keeps few transactions of one account should the promises be broken.
    if (own.length >= mostOpen(definition)) return []
    const inFlight = own.filter(isInFlight).length
    return [{ signer, state, open: own, inFlight }]
  })
}

/** What bundles are assembled with on every lane. */
type Round = Pick<Assembly, 'head' | 'waiting' | 'open'>

/** What keeps an executor from sending, until it sends a bundle. */
const cannot = {
  send: 'the executor cannot send',
  pay: 'the executor cannot pay for another bundle',
}

type Sent = Pick<BundleDraft, 'entryPoint' | 'leavesOthers'> & { readonly bundle: OpenBundle }

/** The bundle that was sent; `nothing` when no operation can go, `stopped` when this executor cannot send. */
async function trySend(
  context: BundlingContext,
  lane: SendingLane,
  entryPoints: readonly EntryPoint[],
  round: Round,
): Promise<Sent | 'nothing' | 'stopped'> {
  const executor = lane.signer.address
  try {
    const sent = await sendBundle(context, lane, entryPoints, round)
    if (typeof sent === 'object')
      for (const problem of Object.values(cannot)) context.problems.end(executor, problem)
    return sent
  } catch (error) {
    noteTrouble(context, cannot.send, { executor }, error)
    return 'stopped'
  }
}

async function sendBundle(
  context: BundlingContext,
  { signer, state, open }: SendingLane,
  entryPoints: readonly EntryPoint[],
  round: Round,
): Promise<Sent | 'nothing' | 'stopped'> {
  const executor = signer.address
  const { head } = round
  const lane = { executor, mined: state.mined, open }
  const funds = greatest(state.balance - committedCost(lane), 0n)
  let isShort = false
  // wei kept back for costs that only a finished draft shows, above all for its data. They double, so that few drafts follow.
  let keptBack = 0n
  for (const entryPoint of entryPoints) {
    for (;;) {
      const assembly = { ...round, executor, entryPoint, funds: funds - keptBack }
      const draft = await assembleBundle(context, assembly)
      if (draft === 'unaffordable') isShort = true
      if (typeof draft !== 'object') break
      const { hashes, gas, fees, dataReserve, leavesOthers } = draft
      const cost = transactionCost({ gas, ...fees }) + dataReserve
      if (funds < cost) {
        isShort = true
        keptBack = greatest(2n * keptBack, cost - funds, funds / 64n)
        continue
      }
      faultPoint('bundle:simulated')
      const relayedFrom = context.relay?.isPaused(head.number) === false ? head.number : undefined
      const bundle = await signBundle(context, signer, nextNonce(lane), draft, relayedFrom)
      if (!bundle) continue
      faultPoint('bundle:committed')
      context.sizeWatch?.note(entryPoint.address, draft.receivedAt)
      const facts = { bundleId: bundle.id, executor, nonce: bundle.nonce }
      context.logger.info({ ...facts, ops: hashes, gas, ...fees }, 'bundle signed')
      return isTaken(await send(context, bundle)) ? { bundle, entryPoint, leavesOthers } : 'stopped'
    }
  }
  if (!isShort) return 'nothing'
  context.problems.warn(executor, cannot.pay, { executor, free: funds })
  return 'stopped'
}

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
  const { entryPoint, hashes, senders, data, gas, fees, authorizationList, dataReserve } = draft
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
  const call = { from: signer.address, to, data, gas, authorizations: authorizationList }
  rememberFlight(attempt.hash, call)
  forgetPooled(hashes)
  const counts = { operationCount: hashes.length, waitingCount: hashes.length, senders }
  // The operations were valid long enough a moment ago; the next cycle reads their end from the database.
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
