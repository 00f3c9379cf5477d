import type { Hex } from 'viem'
import { CannotSimulateError } from '../errors/simulationErrors.js'
import type { AccessHints } from './accessHints.js'
import { BlockGone } from './blockReads.js'
import type { ChainRules } from './chainRules.js'
import type { Head } from './head.js'
import type { HeadFollower } from './headFollower.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getBlock } from './nodeReads.js'
import type { BlockView } from './state/blockView.js'
import {
  type ChainViews,
  createChainViews,
  newView,
  renewRules,
  sharedView,
} from './state/chainViews.js'
import { type AccessMemory, expectedReads, rememberTouched } from './state/expectedReads.js'
import { openStateBefore } from './state/stateBefore.js'
import { TouchMemory, type Traces } from './state/touchMemory.js'
import { type KnownBlock, type StateAttempt, untilKnown } from './state/untilKnown.js'

export type { Traces } from './state/touchMemory.js'
export type { KnownBlock, Unfinished } from './state/untilKnown.js'

/** An execution on complete state, and the block whose state it was. */
export type ResolvedCall<Done> = { readonly result: Done; readonly known: KnownBlock }

/**
 * Repeats `attempt` until no state that it needs is missing. Throws CannotSimulateError when the EVM
 * gives up, NodeUnavailableError when the node has no state to give.
 */
export type WithState = <Done extends Traces & { readonly kind: 'done' }>(
  hints: AccessHints,
  attempt: StateAttempt<Done>,
) => Promise<ResolvedCall<Done>>

/**
 * The same on the state before block `hash`, with what `hints` foresee of it. Nothing is learnt from it.
 * Throws CannotSimulateError also where the node does not have the block or its state.
 */
export type WithStateBefore = <Done extends { readonly kind: 'done' }>(
  hash: Hex,
  hints: readonly AccessHints[],
  attempt: StateAttempt<Done>,
) => Promise<ResolvedCall<Done>>

/** State for our EVM, read from a node as needed. */
export type StateProvider = {
  /** On the known head, together with all state that earlier executions on it have read. */
  withState: WithState
  /**
   * On the newest block, with state that is read after the call. Also sees what a development chain
   * changed without a block.
   */
  withNewestState: WithState
  /** On the state in which a mined block begins, in that block's own environment. */
  withStateBefore: WithStateBefore
  /** The rules by which contracts run in a block. */
  rulesOf(head: Head): Promise<ChainRules>
  stop(): void
}

export type StateProviderContext = {
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh' | 'onHead'>
  readonly chainId: number
  /** Called for every batch sent, with the number of its calls. */
  readonly onBatch?: (calls: number) => void
}

/** Blocks that are tried one after the other when the node has left each of them. */
const MAX_BLOCKS = 4
/** The parts of one provider. */
type Provider = ChainViews & AccessMemory

/**
 * State by few, batched reads. An execution goes on with zeros where state is unknown and reports all
 * that it missed; that is read in one batch and the execution repeated. Before the first attempt, the
 * state that similar executions touched is read, so that a known kind of execution needs one batch in a
 * new block and none in the same. All state of an execution is that of one block: reads name it by hash,
 * or, where the node cannot, by number with a look at the hash afterwards.
 */
export async function createStateProvider(context: StateProviderContext): Promise<StateProvider> {
  const { node, heads, chainId, onBatch } = context
  const views = await createChainViews({ node, chainId, onBatch }, heads.current())
  const provider: Provider = { ...views, touches: new TouchMemory() }
  const stop = heads.onHead(({ reorgedFrom }) => {
    if (reorgedFrom !== undefined) provider.codes.forget(reorgedFrom)
  })
  return {
    withState: async (hints, attempt) =>
      executeFrom(provider, heads.current(), sharedView, hints, attempt),
    withNewestState: async (hints, attempt) =>
      executeFrom(provider, await heads.refresh(), newView, hints, attempt),
    withStateBefore: (hash, hints, attempt) => executeBefore(provider, hash, hints, attempt),
    async rulesOf(head) {
      await renewRules(provider, head)
      return provider.dated.rules
    },
    stop,
  }
}

/** Executes on the view of `first`, and on that of a newer head when the node has left the block. */
async function executeFrom<Done extends Traces & { readonly kind: 'done' }>(
  provider: Provider,
  first: Head,
  openView: (provider: Provider, head: Head) => Promise<BlockView>,
  hints: AccessHints,
  attempt: StateAttempt<Done>,
): Promise<ResolvedCall<Done>> {
  let head = first
  for (let tried = 1; ; tried++) {
    try {
      return await executeOn(provider, await openView(provider, head), hints, attempt)
    } catch (error) {
      if (!(error instanceof BlockGone)) throw error
      // Not asked of the follower, which keeps its head when a node falls behind.
      const latest = await provider.node.head()
      if (latest.hash === head.hash || tried === MAX_BLOCKS) {
        throw new NodeUnavailableError(`state of block ${head.hash}`, error)
      }
      head = latest
    }
  }
}

/** Throws BlockGone when the node does not have the block of `view` any more. */
async function executeOn<Done extends Traces & { readonly kind: 'done' }>(
  provider: Provider,
  view: BlockView,
  hints: AccessHints,
  attempt: StateAttempt<Done>,
): Promise<ResolvedCall<Done>> {
  const { reads, isLearnt } = expectedReads(provider, hints, view)
  const hadRead = await view.fetch(reads)
  const { result, missed, ...run } = await untilKnown(
    view,
    reads,
    (misses) => view.fetch(misses),
    attempt,
  )
  const hasRead = hadRead || run.hasRead
  if (hasRead && !provider.dated.rules.readsByHash) await requireCanonical(provider, view.head)
  if (hasRead && (!isLearnt || missed)) rememberTouched(provider, hints, view, result)
  return { result, known: view }
}

/** Executes on the state before a mined block. */
async function executeBefore<Done extends { readonly kind: 'done' }>(
  provider: Provider,
  hash: Hex,
  hints: readonly AccessHints[],
  attempt: StateAttempt<Done>,
): Promise<ResolvedCall<Done>> {
  try {
    const { parent, known, fetch } = await openStateBefore(provider, hash)
    const reads = hints.flatMap((each) => expectedReads(provider, each, known).reads)
    await fetch(reads)
    const { result } = await untilKnown(known, reads, fetch, attempt)
    if (!provider.dated.rules.readsByHash) await requireCanonical(provider, parent)
    return { result, known }
  } catch (error) {
    if (!(error instanceof BlockGone)) throw error
    throw new CannotSimulateError(`the node does not have its state: ${error.message}`)
  }
}

async function requireCanonical({ node }: Provider, { number, hash }: Head): Promise<void> {
  const block = await getBlock(node, number)
  if (block?.hash !== hash) throw new BlockGone('replaced while it was read')
}
