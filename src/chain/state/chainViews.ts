import type { Address } from 'viem'
import { Lru } from '../../base/lru.js'
import { CannotSimulateError } from '../../errors/simulationErrors.js'
import { type ChainRules, detectChainRules } from '../chainRules.js'
import type { Head } from '../head.js'
import type { NodeClient } from '../nodeClient.js'
import { BlockView } from './blockView.js'
import { CodeMemory } from './codeMemory.js'
import { createReadState, type ReadState } from './readState.js'

/** Accounts and slots that are kept of one block. */
const MAX_KEPT = 200_000
const MAX_CREATORS = 2_000
/** A fork may come: rules are detected again after so many seconds of chain time. */
const RULES_LIFE = 3_600

type ViewContext = {
  readonly node: NodeClient
  readonly chainId: number
  /** Called for every batch sent, with the number of its calls. */
  readonly onBatch: ((calls: number) => void) | undefined
}

/** The rules of the chain until a time (Unix seconds), and the reads that fit its node. */
type DatedRules = {
  readonly rules: ChainRules
  readonly readState: ReadState
  readonly until: number
}

/** Views of the blocks of one chain, and what they share. The mutable parts follow the chain. */
export type ChainViews = ViewContext & {
  readonly codes: CodeMemory
  /** Contracts whose nonce was needed: those that create others. */
  readonly creators: Lru<Address, true>
  dated: DatedRules
  /** The view that executions on the current head share. */
  view: BlockView | undefined
}

/** Throws CannotSimulateError on a chain older than Shanghai. */
export async function createChainViews(context: ViewContext, head: Head): Promise<ChainViews> {
  return {
    ...context,
    codes: new CodeMemory(),
    creators: new Lru<Address, true>(MAX_CREATORS),
    dated: await detectRules(context, head),
    view: undefined,
  }
}

async function detectRules({ node, onBatch }: ViewContext, head: Head): Promise<DatedRules> {
  const rules = await detectChainRules(node, head.hash)
  if (rules === undefined) throw new CannotSimulateError('the chain is older than Shanghai')
  const readState = createReadState((calls) => {
    onBatch?.(calls.length)
    return node.batch(calls)
  })
  return { rules, readState, until: head.timestamp + RULES_LIFE }
}

/** Detects the rules again when those that are known are too old for `head`. */
export async function renewRules(views: ChainViews, head: Head): Promise<void> {
  if (head.timestamp < views.dated.until) return
  views.dated = await detectRules(views, head)
}

/** The view of `head` that all executions on it share, so that each slot is read once. */
export async function sharedView(views: ChainViews, head: Head): Promise<BlockView> {
  await renewRules(views, head)
  // Nothing is awaited from here on: executions that come at once share one view.
  const { view } = views
  if (view?.head.hash === head.hash && view.size < MAX_KEPT) return view
  views.view = createView(views, head)
  return views.view
}

/** A view of `head` that knows nothing yet. */
export async function newView(views: ChainViews, head: Head): Promise<BlockView> {
  await renewRules(views, head)
  return createView(views, head)
}

function createView({ chainId, dated, codes, creators }: ChainViews, head: Head): BlockView {
  const { rules, readState } = dated
  return new BlockView(head, { chainId, rules, readState, codes, creators })
}
