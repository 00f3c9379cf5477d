import type { Address } from 'viem'
import { CannotSimulateError } from '../../base/errors/simulationErrors.js'
import { Lru } from '../../base/lru.js'
import type { Fork } from '../../evm/index.js'
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
  /** Called whenever the rules were detected again. */
  readonly onRules: ((rules: ChainRules, before: ChainRules) => void) | undefined
}

/** The rules of the chain until a time (Unix seconds), and the reads that fit its node. */
type DatedRules = {
  readonly rules: ChainRules
  readonly readState: ReadState
  readonly until: number
  readonly forkFields: number | undefined
  /** The block at which they were detected. */
  readonly at: bigint
}

/** Views of the blocks of one chain, and what they share. The mutable parts follow the chain. */
export type ChainViews = ViewContext & {
  readonly codes: CodeMemory
  /** Contracts whose nonce was needed: those that create others. */
  readonly creators: Lru<Address, true>
  dated: DatedRules
  /** The view that executions on the current head share. */
  view: BlockView | undefined
  /** The same by the rules that are to come. */
  comingView: BlockView | undefined
  /** The rules that held before, and until when (Unix seconds). */
  former: { readonly dated: DatedRules; readonly until: number } | undefined
  /** A detection under way. */
  detecting: Promise<DatedRules> | undefined
}

/** Throws CannotSimulateError on a chain older than Shanghai. */
export async function createChainViews(context: ViewContext, head: Head): Promise<ChainViews> {
  const codes = new CodeMemory()
  return {
    ...context,
    codes,
    creators: new Lru<Address, true>(MAX_CREATORS),
    dated: await detectRules({ ...context, codes }, head),
    view: undefined,
    comingView: undefined,
    former: undefined,
    detecting: undefined,
  }
}

async function detectRules(
  { node, onBatch, codes }: ViewContext & Pick<ChainViews, 'codes'>,
  head: Head,
): Promise<DatedRules> {
  const rules = await detectChainRules(node, head.hash)
  if (rules === undefined) throw new CannotSimulateError('the chain is older than Shanghai')
  const readState = createReadState((calls) => {
    onBatch?.(calls.length)
    return node.batch(calls)
  }, codes)
  const { activation = Number.POSITIVE_INFINITY } = rules.next ?? {}
  // Announced rules hold from their first block on; looked at again then, as what is announced may change.
  const until = Math.min(head.timestamp + RULES_LIFE, Math.max(activation, head.timestamp + 1))
  return { rules, readState, until, forkFields: head.forkFields, at: head.number }
}

/** Detects the rules again when those that are known are too old for `head`, or its header has other fields. */
export async function renewRules(views: ChainViews, head: Head): Promise<void> {
  const { until, forkFields, rules, at } = views.dated
  const isOther = head.number > at && head.forkFields !== forkFields
  if (head.timestamp < until && !isOther) return
  views.detecting ??= detectRules(views, head).finally(() => {
    views.detecting = undefined
  })
  const dated = await views.detecting
  if (views.dated === dated) return
  if (dated.rules.fork !== rules.fork) {
    const since = rules.next?.activation ?? head.timestamp
    views.former = { dated: views.dated, until: Math.min(since, head.timestamp) }
  }
  views.dated = dated
  views.view = undefined
  views.comingView = undefined
  views.onRules?.(dated.rules, rules)
}

/** Seconds before an announced fork from which on either side counts. */
const NEAR = 3_600

/** The fork of now, and with it the announced one, from an hour before it on until its rules are detected. */
export function forksAt({ dated }: Pick<ChainViews, 'dated'>, time: number): readonly Fork[] {
  const { fork, next } = dated.rules
  return next && time >= next.activation - NEAR ? [fork, next.fork] : [fork]
}

/** The view of `head` by the rules that are to come; throws where none are announced. */
export async function comingView(views: ChainViews, head: Head): Promise<BlockView> {
  await renewRules(views, head)
  const { comingView: view, dated } = views
  if (view?.head.hash === head.hash && view.size < MAX_KEPT) return view
  const { next } = dated.rules
  const rules = next ? { ...dated.rules, fork: next.fork, calldataFloor: undefined } : dated.rules
  views.comingView = createView({ ...views, dated: { ...dated, rules }, former: undefined }, head)
  return views.comingView
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

function createView(views: ChainViews, head: Head): BlockView {
  const { chainId, former, codes, creators } = views
  const isFormer = former !== undefined && head.timestamp < former.until
  const { rules, readState } = isFormer ? former.dated : views.dated
  return new BlockView(head, { chainId, rules, readState, codes, creators })
}
