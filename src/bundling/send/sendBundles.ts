import type { Hex } from 'viem'
import { faultPoint } from '../../base/faults.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { SignerUnavailableError } from '../../errors/signerErrors.js'
import type { ExecutorSigner } from '../../signing/executorSigner.js'
import { type OpenBundle, openBundles } from '../../store/outbox/bundles.js'
import { pooledEntryPoints } from '../../store/pool/pooledOperations.js'
import { assembleBundle } from '../assemble/assembleBundle.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { ExecutorState } from './executorStates.js'
import { type Followed, isTaken, send } from './followBundles.js'
import { committedCost, nextNonce } from './lanes.js'
import { transactionCost } from './signAttempt.js'
import { signBundle } from './signBundle.js'

type Turn = {
  /** A counter that rotates the EntryPoints. */
  readonly turn: number
  /**
   * Whether the head is new. Then each executor may have `maxBundlesPerExecutor` in flight; between
   * heads only idle ones send, so that operations which come in meanwhile share a bundle.
   */
  readonly freshHead: boolean
}

type SendingLane = {
  readonly signer: ExecutorSigner
  readonly state: ExecutorState
  readonly open: readonly OpenBundle[]
}

/** Sends bundles while operations wait and executors are free, those with the fewest in flight first. */
export async function sendBundles(
  context: BundlingContext,
  followed: Followed,
  { turn, freshHead }: Turn,
): Promise<void> {
  const { definition, entryPoints } = context
  const start = turn % entryPoints.length
  const addresses = entryPoints.map(({ address }) => address)
  const pooled = await pooledEntryPoints(context.database, definition.chainId, addresses)
  const rotated = [...entryPoints.slice(start), ...entryPoints.slice(0, start)].filter(
    ({ address }) => pooled.has(address),
  )
  if (rotated.length === 0) return
  const waiting = new Set<Hex>()
  let lanes = await sendingLanes(context, followed)
  const maxInFlight = freshHead ? definition.maxBundlesPerExecutor : 1
  for (let inFlight = 0; inFlight < maxInFlight; inFlight++) {
    const next: SendingLane[] = []
    for (const lane of lanes) {
      if (lane.open.length !== inFlight) {
        next.push(lane)
        continue
      }
      const sent = await trySend(context, followed, lane, rotated, waiting)
      if (sent === 'nothing') return
      if (sent !== 'stopped') next.push({ ...lane, open: [...lane.open, sent] })
    }
    lanes = next
  }
}

/** Lanes of the executors that may send: those with enough money and no transaction that is blocked. */
async function sendingLanes(
  { database, definition, signers }: BundlingContext,
  { states, blocked }: Followed,
): Promise<SendingLane[]> {
  const open = await openBundles(database, definition.chainId)
  return signers.flatMap((signer) => {
    const { address } = signer
    const state = states.get(address)
    if (!state || blocked.has(address)) return []
    if (state.balance < definition.executorMinBalance) return []
    return [{ signer, state, open: open.filter(({ executor }) => executor === address) }]
  })
}

/** The bundle that was sent; `nothing` when no operation can go, `stopped` when this executor cannot send. */
async function trySend(
  context: BundlingContext,
  followed: Followed,
  lane: SendingLane,
  entryPoints: readonly EntryPoint[],
  waiting: Set<Hex>,
): Promise<OpenBundle | 'nothing' | 'stopped'> {
  try {
    return await sendBundle(context, followed, lane, entryPoints, waiting)
  } catch (error) {
    if (!(error instanceof NodeRpcError || error instanceof SignerUnavailableError)) throw error
    const facts = { executor: lane.signer.address, reason: error.message }
    context.logger.error(facts, 'the executor cannot send')
    return 'stopped'
  }
}

async function sendBundle(
  context: BundlingContext,
  { head }: Followed,
  { signer, state, open }: SendingLane,
  entryPoints: readonly EntryPoint[],
  waiting: Set<Hex>,
): Promise<OpenBundle | 'nothing' | 'stopped'> {
  const executor = signer.address
  const lane = { executor, mined: state.mined, open }
  for (const entryPoint of entryPoints) {
    for (;;) {
      const draft = await assembleBundle(context, { head, executor, entryPoint, waiting })
      if (!draft) break
      const { hashes, gas, fees, dataReserve } = draft
      const available = state.balance - committedCost(lane)
      const cost = transactionCost({ gas, ...fees }) + dataReserve
      if (available < cost) {
        context.logger.warn(
          { executor, free: available, cost },
          'the executor cannot pay for another bundle',
        )
        return 'stopped'
      }
      faultPoint('bundle:simulated')
      const relayedFrom = context.relay?.rests(head.number) === false ? head.number : undefined
      const bundle = await signBundle(context, signer, nextNonce(lane), draft, relayedFrom)
      if (!bundle) continue
      faultPoint('bundle:committed')
      context.sizeWatch?.note(entryPoint.address, draft.receivedAt)
      const facts = { bundleId: bundle.id, executor, nonce: bundle.nonce }
      context.logger.info({ ...facts, ops: hashes, gas, ...fees }, 'bundle signed')
      return isTaken(await send(context, bundle)) ? bundle : 'stopped'
    }
  }
  return 'nothing'
}
