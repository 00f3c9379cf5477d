import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import { CannotSimulateError } from '../errors/simulationErrors.js'
import type { CallResult, Miss, Outcome, State } from '../evm/index.js'
import { BlockGone } from './blockReads.js'
import { type ChainRules, detectChainRules } from './chainRules.js'
import type { HeadFollower } from './headFollower.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getBlock, type Head } from './nodeReads.js'
import { BlockView } from './state/blockView.js'
import { CodeMemory } from './state/codeMemory.js'
import { createReadState, type ReadState } from './state/readState.js'
import { type RunSubject, type Touched, TouchMemory } from './state/touchMemory.js'

/** What is to be run, as far as it tells which state will be touched. */
export type RunKind = RunSubject & {
  /** Runs that share a name touch alike: the more, the earlier the name. */
  readonly names: readonly [string, ...string[]]
  /** Contracts that are sure to be called, and slots to be read. */
  readonly accounts: readonly Address[]
  readonly slots: readonly (readonly [Address, Hex])[]
  /** Who is sure to create a contract. */
  readonly creators: readonly Address[]
}

export type Provided = {
  readonly result: CallResult
  readonly view: BlockView
  /** Reads more of the same block's state into `view`. Throws BlockGone once the node lacks the block. */
  readonly readMore: (misses: readonly Miss[]) => Promise<void>
}

/** Runs messages of our EVM on the state of the latest block, read from a node as needed. */
export type StateProvider = {
  /**
   * Calls `attempt` until no state that it needs is missing; it runs a message with 'guess' on the given
   * state. Throws CannotSimulateError when the EVM gives up, NodeUnavailableError when the node has no
   * state to give.
   */
  run: RunOnState
  /**
   * The same on state that is read after the call, of the newest block. Also sees what a development
   * chain changed without a block.
   */
  runNewest: RunOnState
  /** By what rules contracts run in a block. */
  rulesOf(head: Head): Promise<ChainRules>
  stop(): void
}

export type RunOnState = (
  kind: RunKind,
  attempt: (state: State, view: BlockView) => Outcome,
) => Promise<Provided>

export type StateProviderContext = {
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh' | 'onHead'>
  readonly chainId: number
  /** Called for every batch sent, with the number of its calls. */
  readonly onBatch?: (calls: number) => void
}

/** Where an ERC-1967 proxy keeps what it runs. */
const IMPLEMENTATION_SLOT: Hex =
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
/** How often the state may turn out to be of a block that is gone. */
const MAX_BLOCKS = 4
/** Rounds of guessing; a run that needs more follows its state from slot to slot. */
const MAX_ROUNDS = 24
/** Accounts and slots that one run may ask for. */
const MAX_READS = 4_000
/** Accounts and slots that are kept of one block. */
const MAX_KEPT = 200_000
const MAX_CREATORS = 2_000
/** A fork may come: rules are looked at again after so many seconds of chain time. */
const RULES_LIFE = 3_600

/**
 * State by few, batched reads. A run goes on with zeros where state is unknown and tells all that it
 * missed; that is fetched in one batch and the run repeated. Before the first run, what the last run
 * of its kind touched is fetched, so that a known kind of run needs one batch in a new block and none
 * in the same. All state of a run is that of one block: reads name it by hash, or, where the node
 * cannot, by number with a look at the hash afterwards.
 */
export async function createStateProvider(context: StateProviderContext): Promise<StateProvider> {
  const { node, heads, chainId, onBatch } = context
  const codes = new CodeMemory()
  const creators = new Lru<Address, true>(MAX_CREATORS)
  const touches = new TouchMemory()
  let rules = await rulesAt(heads.current())
  let view: BlockView | undefined

  async function rulesAt(
    head: Head,
  ): Promise<{ rules: ChainRules; readState: ReadState; until: number }> {
    const found = await detectChainRules(node, head.hash)
    if (found === undefined) throw new CannotSimulateError('the chain is older than Shanghai')
    const readState = createReadState((calls) => {
      onBatch?.(calls.length)
      return node.batch(calls)
    })
    return { rules: found, readState, until: head.timestamp + RULES_LIFE }
  }

  async function sharedView(head: Head): Promise<BlockView> {
    await renewRules(head)
    // Nothing is awaited from here on: runs that come at once share one view.
    if (view?.head.hash === head.hash && view.size < MAX_KEPT) return view
    view = viewOf(head)
    return view
  }

  async function newView(head: Head): Promise<BlockView> {
    await renewRules(head)
    return viewOf(head)
  }

  async function renewRules(head: Head): Promise<void> {
    if (head.timestamp >= rules.until) rules = await rulesAt(head)
  }

  function viewOf(head: Head): BlockView {
    const { rules: found, readState } = rules
    return new BlockView(head, { chainId, rules: found, readState, codes, creators })
  }

  /** The names with what the sender's code tells before those without. */
  function withCode(names: readonly string[], sender: Address, known: State): string[] {
    const code = codes.at(sender) ?? known.account(sender)?.code
    const hash = code && codes.hashOf(code)
    return hash === undefined ? [...names] : [...names.map((name) => `${name} ${hash}`), ...names]
  }

  /** What it will touch, and whether runs of just this kind have told it. */
  function expected(kind: RunKind, known: State): { reads: Miss[]; isLearnt: boolean } {
    const names = withCode(kind.names, kind.sender, known)
    const at = names.findIndex((name) => touches.knows(name))
    const recalled = at < 0 ? [] : touches.recall(names[at] as string, kind)
    const slots = kind.slots.map(([address, slot]) => ({ kind: 'slot', address, slot }) as const)
    const nonces = kind.creators.map((address) => ({ kind: 'nonce', address }) as const)
    const sure = [...kind.accounts.flatMap(readsOfContract), ...nonces, ...slots]
    return { reads: [...sure, ...recalled], isLearnt: at === 0 }
  }

  /** A contract that is met for the first time may be a proxy: its slot saves a round. */
  function readsOfContract(address: Address): Miss[] {
    const account = { kind: 'account', address } as const
    if (codes.at(address) !== undefined) return [account]
    return [account, { kind: 'slot', address, slot: IMPLEMENTATION_SLOT }]
  }

  function learn(
    kind: RunKind,
    known: State,
    touched: Touched,
    record: CallResult['record'],
  ): void {
    const [name] = kind.names
    const general = kind.names.at(-1) ?? name
    const names = [...withCode([name], kind.sender, known), general]
    touches.learn(names, kind, touched, record?.preimages ?? [])
  }

  async function runOn(
    known: BlockView,
    kind: RunKind,
    attempt: (state: State, view: BlockView) => Outcome,
  ): Promise<Provided> {
    const { reads: first, isLearnt } = expected(kind, known)
    let asked = await known.fetch(first)
    let reads = 0
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { state, touched } = track(known)
      const outcome = attempt(state, known)
      if (outcome.kind === 'missing') {
        reads += outcome.misses.length
        if (reads > MAX_READS) throw new CannotSimulateError('it touches too much state')
        asked = (await known.fetch(outcome.misses)) || asked
        continue
      }
      if (outcome.kind === 'unsupported' || outcome.kind === 'exhausted') {
        throw new CannotSimulateError(outcome.reason)
      }
      if (outcome.kind === 'invalid') throw new Error(`no node would run it: ${outcome.reason}`)
      if (asked && !rules.rules.readsByHash) await requireCanonical(known.head)
      const isNews = !isLearnt || reads > 0
      if (asked && isNews) learn(kind, known, touched, outcome.record)
      return { result: outcome, view: known, readMore: (misses) => readMore(known, misses) }
    }
    throw new CannotSimulateError(`its state is not known after ${MAX_ROUNDS} rounds of reading`)
  }

  async function readMore(known: BlockView, misses: readonly Miss[]): Promise<void> {
    const asked = await known.fetch(misses)
    if (asked && !rules.rules.readsByHash) await requireCanonical(known.head)
  }

  async function requireCanonical({ number, hash }: Head): Promise<void> {
    const now = await getBlock(node, number)
    if (now?.hash !== hash) throw new BlockGone('replaced while it was read')
  }

  async function runFrom(
    first: Head,
    open: (head: Head) => Promise<BlockView>,
    [kind, attempt]: Parameters<RunOnState>,
  ): Promise<Provided> {
    let head = first
    for (let tried = 1; ; tried++) {
      try {
        return await runOn(await open(head), kind, attempt)
      } catch (error) {
        if (!(error instanceof BlockGone)) throw error
        // Not asked of the follower, which keeps its head when a node falls behind.
        const latest = await node.head()
        if (latest.hash === head.hash || tried === MAX_BLOCKS) {
          throw new NodeUnavailableError(`state of block ${head.hash}`, error)
        }
        head = latest
      }
    }
  }

  const stop = heads.onHead(({ reorgedFrom }) => {
    if (reorgedFrom !== undefined) codes.forget(reorgedFrom)
  })

  return {
    run: async (...asked) => runFrom(heads.current(), sharedView, asked),
    runNewest: async (...asked) => runFrom(await heads.refresh(), newView, asked),
    async rulesOf(head) {
      await renewRules(head)
      return rules.rules
    },
    stop,
  }
}

/** `known`, and what is asked of it. */
function track(known: State): { state: State; touched: Touched } {
  const accounts = new Set<Address>()
  const slots = new Map<Address, Set<Hex>>()
  return {
    touched: { accounts, slots },
    state: {
      account: (address) => {
        accounts.add(address)
        return known.account(address)
      },
      slot: (address, slot) => {
        const touched = slots.get(address)
        if (touched === undefined) slots.set(address, new Set([slot]))
        else touched.add(slot)
        return known.slot(address, slot)
      },
    },
  }
}
