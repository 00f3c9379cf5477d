import type { Hex } from 'viem'
import { CannotSimulateError, TooCostlyError } from '../base/errors/simulationErrors.js'
import { unixNow } from '../base/unixNow.js'
import type { Fork, Miss, Outcome } from '../evm/index.js'
import {
  type Accesses,
  type AccessHints,
  type AccessMemory,
  AccessPatterns,
  learnAccesses,
  predictReads,
} from './accessPrediction.js'
import { BlockGone } from './blockReads.js'
import { type ChainRules, zeroAddress } from './chainRules.js'
import type { Head } from './head.js'
import type { HeadFollower } from './headFollower.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getBlock } from './nodeReads.js'
import type { BlockView, KnownBlock } from './state/blockView.js'
import {
  type ChainViews,
  comingView,
  createChainViews,
  forksAt,
  newView,
  renewRules,
  sharedView,
} from './state/chainViews.js'
import { openNewestState, openStateBefore, type PastState } from './state/pastState.js'

export type { KnownBlock }

/** An execution on complete state, and the block whose state it was. */
type ResolvedCall<Done> = { readonly result: Done; readonly known: KnownBlock }

/**
 * Repeats `attempt` until no state that it needs is missing. Throws CannotSimulateError when the EVM
 * gives up, NodeUnavailableError when the node has no state to give.
 */
export type WithState = <Done extends Accesses & { readonly kind: 'done' }>(
  hints: AccessHints,
  attempt: StateAttempt<Done>,
) => Promise<ResolvedCall<Done>>

/**
 * The same on the state before block `hash`, with what `hints` foresee of it. Nothing is learnt from it.
 * Throws CannotSimulateError also where the node does not have the block or its state.
 */
type WithStateBefore = <Done extends { readonly kind: 'done' }>(
  hash: Hex,
  hints: readonly AccessHints[],
  attempt: StateAttempt<Done>,
) => Promise<ResolvedCall<Done>>

/** The state that an operation of the past met. */
export type Past = {
  /** The node has lost that state: this is its newest one. */
  readonly isNewest: boolean
  /** Runs on what `change` makes of it. Nothing is learnt from them. They throw CannotSimulateError where the node leaves the block. */
  on(change: (known: KnownBlock) => KnownBlock): WithState
}

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
  /**
   * The state in which a mined block begins, or the newest where the node has lost it, in that block's own environment.
   * Throws CannotSimulateError where the node has lost the block as well.
   */
  openPast(hash: Hex): Promise<Past>
  /** The same as `withState` by the rules of the fork that is near; by those of now where none is. */
  withComingRules: WithState
  /**
   * Reads what `hints` foresee, for a run on the known head that is about to come. Never throws: that run reads what could
   * not be read, and says why.
   */
  foresee(hints: AccessHints): Promise<void>
  /** The known head, with these parts of its state read. Throws BlockGone where the node has left it. */
  read(reads: readonly Miss[]): Promise<KnownBlock>
  /** The forks whose rules may hold soon: that of now, and before it changes the one that is announced and an hour away at most. */
  forks(): readonly Fork[]
  /** The rules that were detected last. */
  rules(): ChainRules
  /** The rules by which contracts run in a block. */
  rulesOf(head: Head): Promise<ChainRules>
  stop(): void
}

export type StateProviderContext = {
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh' | 'onHead'>
  readonly chainId: number
  /** See `ChainDefinition`; absent = no. */
  readonly replacesCode?: boolean | undefined
  /** Called for every batch sent, with the number of its calls. */
  readonly onBatch?: (calls: number) => void
  /** Called whenever the rules were detected again, at least once an hour of chain time. */
  readonly onRules?: (rules: ChainRules, before: ChainRules) => void
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
  const { node, heads, chainId, replacesCode, onBatch, onRules } = context
  const views = await createChainViews({ node, chainId, onBatch, onRules }, heads.current())
  const provider: Provider = { ...views, touches: new AccessPatterns() }
  const stop = heads.onHead(({ head, reorgedFrom }) => {
    const from = replacesCode ? 0n : reorgedFrom
    if (from !== undefined) provider.codes.forget(from)
    // The next execution asks again and reports what the node answers.
    renewRules(provider, head).catch(() => undefined)
  })
  return {
    withState: async (hints, attempt) =>
      executeFrom(provider, heads.current(), sharedView, hints, attempt),
    withNewestState: async (hints, attempt) =>
      executeFrom(provider, await heads.refresh(), newView, hints, attempt),
    withComingRules: async (hints, attempt) =>
      executeFrom(provider, heads.current(), comingView, hints, attempt),
    async foresee(hints) {
      try {
        const view = await sharedView(provider, heads.current())
        await view.fetch(predictReads(provider, hints, view).reads)
      } catch {
        // See above: the run asks again.
      }
    },
    async read(reads) {
      const view = await sharedView(provider, heads.current())
      if ((await view.fetch(reads)) && !provider.dated.rules.readsByHash)
        await requireCanonical(provider, view.head)
      return view
    },
    forks: () => forksAt(provider, Math.max(heads.current().timestamp, unixNow())),
    rules: () => provider.dated.rules,
    withStateBefore: (hash, hints, attempt) =>
      whereStateIs(async () =>
        executeOnPast(provider, await openStateBefore(provider, hash), hints, attempt),
      ),
    openPast: (hash) => openPast(provider, hash, () => heads.refresh()),
    async rulesOf(head) {
      await renewRules(provider, head)
      return provider.dated.rules
    },
    stop,
  }
}

/** Executes on the view of `first`, and on that of a newer head when the node has left the block. */
async function executeFrom<Done extends Accesses & { readonly kind: 'done' }>(
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
async function executeOn<Done extends Accesses & { readonly kind: 'done' }>(
  provider: Provider,
  view: BlockView,
  hints: AccessHints,
  attempt: StateAttempt<Done>,
): Promise<ResolvedCall<Done>> {
  const { reads, isLearnt } = predictReads(provider, hints, view)
  const hadRead = await view.fetch(reads)
  const { result, missed, ...run } = await untilKnown(
    view,
    reads,
    (misses) => view.fetch(misses),
    attempt,
  )
  const hasRead = hadRead || run.hasRead
  if (hasRead && !provider.dated.rules.readsByHash) await requireCanonical(provider, view.head)
  if (hasRead && (!isLearnt || missed)) learnAccesses(provider, hints, view, result)
  return { result, known: view }
}

/** The state of a block, in the environment of that block or of another. */
async function executeOnPast<Done extends { readonly kind: 'done' }>(
  provider: Provider,
  { known, fetch }: PastState,
  hints: readonly AccessHints[],
  attempt: StateAttempt<Done>,
): Promise<ResolvedCall<Done>> {
  const reads = hints.flatMap((each) => predictReads(provider, each, known).reads)
  await fetch(reads)
  const { result } = await untilKnown(known, reads, fetch, attempt)
  if (!provider.dated.rules.readsByHash) await requireCanonical(provider, known.head)
  return { result, known }
}

async function openPast(provider: Provider, hash: Hex, newest: () => Promise<Head>): Promise<Past> {
  const open = async () => {
    try {
      const before = await openStateBefore(provider, hash)
      // Any state shows whether the node has that of the block.
      await before.fetch([{ kind: 'account', address: zeroAddress }])
      return { state: before, isNewest: false }
    } catch (error) {
      if (!(error instanceof BlockGone)) throw error
      return { state: await openNewestState(provider, hash, await newest()), isNewest: true }
    }
  }
  const { state, isNewest } = await whereStateIs(open)
  return {
    isNewest,
    on(change) {
      const changed = { ...state, known: change(state.known) }
      return (hints, attempt) =>
        whereStateIs(() => executeOnPast(provider, changed, [hints], attempt))
    },
  }
}

async function whereStateIs<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof BlockGone)) throw error
    throw new CannotSimulateError(`the node does not have its state: ${error.message}`)
  }
}

async function requireCanonical({ node }: Provider, { number, hash }: Head): Promise<void> {
  const block = await getBlock(node, number)
  if (block?.hash !== hash) throw new BlockGone('replaced while it was read')
}

/** An execution that did not come to its end. */
export type Unfinished = Exclude<Outcome, { readonly kind: 'done' }>

/**
 * One execution in our EVM, with 'guess', on state that may still be incomplete; it may wait for its turn.
 * `reads` is the state that has been read for it.
 */
type StateAttempt<Done> = (known: KnownBlock, reads: readonly Miss[]) => Promise<Done | Unfinished>

/** Rounds of guessing; an execution that needs more follows its state from slot to slot. */
const MAX_ROUNDS = 24
/** Accounts and slots that one execution may ask for. */
const MAX_READS = 4_000
/** Accounts of a round; it goes on with the others in the next one. */
const MAX_ACCOUNTS = 128
/** Bytes of code that one execution may ask for, 120 of the largest contracts: to decode and hash them holds up all others. */
const MAX_CODE = 3_000_000

/**
 * Repeats `attempt` until no state that it needs is missing; `reads` has been read. Resolves also to whether state
 * was missing, and whether `fetch` had to ask the node for it. Throws CannotSimulateError when the EVM gives up.
 */
async function untilKnown<Done extends { readonly kind: 'done' }>(
  known: KnownBlock,
  reads: readonly Miss[],
  fetch: (misses: readonly Miss[]) => Promise<boolean>,
  attempt: StateAttempt<Done>,
): Promise<{ readonly result: Done; readonly missed: boolean; readonly hasRead: boolean }> {
  let hasRead = false
  let missed = 0
  let code = 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const end = await attempt(known, reads)
    if (end.kind !== 'missing') return { result: requireDone(end), missed: missed > 0, hasRead }
    const misses = withFewAccounts(end.misses)
    missed += misses.length
    if (missed > MAX_READS || code > MAX_CODE)
      throw new CannotSimulateError('it touches too much state')
    hasRead = (await fetch(misses)) || hasRead
    for (const miss of misses)
      if (miss.kind === 'account') code += known.account(miss.address)?.code.length ?? 0
  }
  throw new CannotSimulateError(`its state is not known after ${MAX_ROUNDS} rounds of reading`)
}

function withFewAccounts(misses: readonly Miss[]): readonly Miss[] {
  let accounts = 0
  return misses.filter(({ kind }) => kind !== 'account' || ++accounts <= MAX_ACCOUNTS)
}

function requireDone<Done extends { readonly kind: 'done' }>(
  end: Done | Exclude<Unfinished, { readonly kind: 'missing' }>,
): Done {
  switch (end.kind) {
    case 'done':
      return end
    case 'invalid':
      throw new Error(`no node would run it: ${end.reason}`)
    case 'exhausted':
      throw new TooCostlyError(end.reason)
    default:
      throw new CannotSimulateError(end.reason)
  }
}
