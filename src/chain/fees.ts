import type { Hex } from 'viem'
import { compareBigints, greatest, smallest } from '../base/bigints.js'
import { FeeTooLowError } from '../base/errors/operationErrors.js'
import { Lru } from '../base/lru.js'
import type { Fees } from '../erc4337/fees.js'
import type { Operation } from '../erc4337/operation.js'
import type { Head } from './head.js'
import type { NodeAnswer } from './jsonRpc.js'
import type { NodeClient } from './nodeClient.js'
import { readTipFloor, type TipFloor, type TipRules, usualTip } from './tipFloor.js'

/** Three levels of fees, the result of biconomy_getGasFeeValues before a dialect writes it. */
export type FeeAdvice = { readonly slow: Fees; readonly standard: Fees; readonly fast: Fees }

/** The advice at a head, and what the chain asks for at least. */
export type AdvisedFees = FeeAdvice & {
  /** wei per gas, of the block after the head */
  readonly nextBaseFee: bigint
  readonly tipFloor: TipFloor
  /** The tip that the node suggests at this head, where it suggests one. */
  readonly suggestion?: bigint | undefined
}

const HISTORY_BLOCKS = 10
const percentiles = [25, 50, 75]

type FeeHistory = {
  readonly baseFeePerGas?: readonly (Hex | null)[]
  readonly gasUsedRatio?: readonly number[]
  readonly reward?: readonly (readonly (Hex | null)[] | null)[] | null
}

/** Blocks less full than this are ignored for tips: one overpaying transaction would set the advice. */
const QUIET = 0.05
/** Heads for which the suggestion of a node is remembered: most nodes suggest what the last blocks paid. */
const REMEMBERED_HEADS = 100

/** Heads whose advice is remembered: an admission may know a newer one than a bundle that is under way. */
const ADVISED_HEADS = 8

/** Blocks for which fees that were advised may still be bid: the advice itself looks back as far. */
const ADVISED_BLOCKS = 10n

function createFeeMemory() {
  return {
    /** One computation per head, which is asked for many times. */
    byHead: new Lru<Hex, Promise<AdvisedFees>>(ADVISED_HEADS),
    /** Tips that the node suggested at the last heads. */
    suggested: [] as readonly bigint[],
    /** The most that a client which asked at one of the last blocks may bid, at most once for each. */
    recently: [] as readonly { readonly number: bigint; readonly most: Fees }[],
  }
}

/**
 * Fees (wei per gas) with which a transaction is included soon after `head`.
 *
 * Tips are the medians, over the last ten blocks that are not empty, of the 25th, 50th and 75th percentile
 * of tips paid per gas. In a block of which less than a twentieth is used, the rest of the twentieth counts as
 * paid with the lowest tip that would have been included too: of the block itself, or as the node suggests.
 * Without any such block, or without eth_feeHistory, the tip is the one that the node suggests
 * (eth_maxPriorityFeePerGas, else eth_gasPrice less the base fee). Of several suggestions the lowest of the
 * last hundred heads counts. `fast` is at least that: it is what clients that ask a node bid.
 * Zero is a tip like any other. The lowest is at least the accepted tip, so that we take what we advise. No tip is
 * below the chain's minimum, where it has one: of a bundle of usual size, where it depends on the size.
 * maxFeePerGas adds the next block's base fee with a margin for growth: 5/4, 3/2 and 2 times, that
 * is 1, 3 and 5 full blocks. Of `standard` and `fast` it is at least 3/2 of base fee and tip (see `roomy`), and of
 * `slow` where nodes take nothing below a price, because it would wait for ever there.
 */
export function adviseFees(node: NodeClient, head: Head, chain: TipRules): Promise<AdvisedFees> {
  const { byHead } = node.memory(createFeeMemory)
  const known = byHead.get(head.hash)
  if (known !== undefined) return known
  const advice = computeAdvice(node, head, chain)
  byHead.set(head.hash, advice)
  advice.then(
    (advised) => noteAdvised(node, head, advised),
    () => {
      if (byHead.get(head.hash) === advice) byHead.delete(head.hash)
    },
  )
  return advice
}

/**
 * The least tip (wei per gas) that is accepted: half of the advised `standard` one, so 0 where tips are
 * 0, and what the chain asks for. An operation must bid it, and no bundle is sent with less while its operations can wait.
 */
export function acceptedTip({
  standard,
  tipFloor,
}: Pick<AdvisedFees, 'standard' | 'tipFloor'>): bigint {
  return leastTip(standard.maxPriorityFeePerGas, tipFloor)
}

function leastTip(standardTip: bigint, tipFloor: TipFloor): bigint {
  return greatest(standardTip / 2n, usualTip(tipFloor))
}

/**
 * Refuses an operation whose fees could not pay for its inclusion (FeeTooLowError):
 * - maxPriorityFeePerGas must reach the accepted tip;
 * - maxFeePerGas must cover the head's base fee plus that tip: the EntryPoint charges
 *   min(maxFee, base fee + tip), so below it the executor would pay the difference. Fees need not cover
 *   a rise of the base fee; such an operation waits in the pool until the base fee falls.
 */
export function requireFees(
  op: Pick<Operation, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  head: Pick<Head, 'baseFee'>,
  advice: Pick<AdvisedFees, 'standard' | 'tipFloor'>,
): void {
  const tip = acceptedTip(advice)
  if (op.maxPriorityFeePerGas < tip) {
    throw new FeeTooLowError('maxPriorityFeePerGas', op.maxPriorityFeePerGas, tip)
  }
  const required = head.baseFee + tip
  if (op.maxFeePerGas < required) {
    throw new FeeTooLowError('maxFeePerGas', op.maxFeePerGas, required)
  }
}

async function computeAdvice(node: NodeClient, head: Head, chain: TipRules): Promise<AdvisedFees> {
  const block = `0x${head.number.toString(16)}`
  const calls = [
    {
      method: 'eth_feeHistory',
      params: [`0x${HISTORY_BLOCKS.toString(16)}`, block, percentiles],
    },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ]
  const [answers, tipFloor] = await Promise.all([
    node.batch(calls),
    readTipFloor(node, head, chain),
  ])
  const history = optional<FeeHistory>(answers[0])
  const suggestion = optional<Hex>(answers[1])
  const nextBaseFee = BigInt(history?.baseFeePerGas?.at(-1) ?? head.baseFee)
  const suggested = suggestion === undefined ? undefined : lowestSuggested(node, BigInt(suggestion))
  const tips = (history && paidTips(history, suggested)) ?? [
    suggested ?? (await priceTip(node, head)),
  ]
  const [lowest = 0n, middle = lowest, highest = middle] = tips
  const standard = greatest(middle, usualTip(tipFloor))
  const slow = greatest(lowest, leastTip(standard, tipFloor))
  const fast = greatest(highest, suggested ?? 0n, standard)
  const slowest = fees(slow, (nextBaseFee * 5n) / 4n)
  return {
    slow: usualTip(tipFloor) > 0n ? roomy(slowest, nextBaseFee) : slowest,
    standard: roomy(fees(standard, (nextBaseFee * 3n) / 2n), nextBaseFee),
    fast: roomy(fees(fast, nextBaseFee * 2n), nextBaseFee),
    nextBaseFee,
    tipFloor,
    suggestion: suggestion && BigInt(suggestion),
  }
}

/** The lowest tip that the node suggests now or suggested at the last heads. */
function lowestSuggested(node: NodeClient, suggestion: bigint): bigint {
  const memory = node.memory(createFeeMemory)
  memory.suggested = [...memory.suggested, suggestion].slice(-REMEMBERED_HEADS)
  return smallest(suggestion, ...memory.suggested)
}

function fees(tip: bigint, baseFee: bigint): Fees {
  return { maxFeePerGas: baseFee + tip, maxPriorityFeePerGas: tip }
}

/**
 * The fees with a maximum of at least 3/2 of what the coming block asks for. A bundle bids less than the maximum of its
 * operations, by up to a third for small ones (`highestPrice`). At a low base fee an operation with the advised fees
 * could not share a bundle that bids the advised tip otherwise, and would wait behind all that pay a little more.
 */
function roomy({ maxFeePerGas, maxPriorityFeePerGas }: Fees, baseFee: bigint): Fees {
  const asked = ((baseFee + maxPriorityFeePerGas) * 3n + 1n) / 2n
  return { maxFeePerGas: greatest(maxFeePerGas, asked), maxPriorityFeePerGas }
}

/** Tips in wei per gas, ascending, one per percentile; undefined when every block was empty. */
function paidTips(
  { reward, gasUsedRatio }: FeeHistory,
  suggested: bigint | undefined,
): bigint[] | undefined {
  const blocks = (reward ?? [])
    .map((row, i) => ({
      tips: (row ?? []).flatMap((tip) => (tip ? BigInt(tip) : [])),
      used: gasUsedRatio?.[i] ?? 0,
    }))
    .filter(({ tips, used }) => used > 0 && tips.length === percentiles.length)
  if (blocks.length === 0) return undefined
  const [first = 0n, ...others] = blocks.flatMap(({ tips }) => tips)
  const enough = suggested ?? smallest(first, ...others)
  return percentiles.map((percentile) =>
    median(blocks.map((block) => tipAt(percentile, block, smallest(enough, ...block.tips)))),
  )
}

/** The tips of one block, one per percentile, and the part of its gas that is used. */
type PaidBlock = { readonly tips: readonly bigint[]; readonly used: number }

/** A percentile of a block's tips, where what it lacks of `QUIET` counts as paid with `lowest`. */
function tipAt(percentile: number, { tips, used }: PaidBlock, lowest: bigint): bigint {
  const lacking = Math.max(0, QUIET - used) / Math.max(QUIET, used)
  const place = (percentile / 100 - lacking) / (1 - lacking)
  return place <= 0 ? lowest : (tips[Math.floor(place * tips.length)] ?? lowest)
}

/** The tip in the price that a node suggests which has nothing better. */
async function priceTip(node: NodeClient, head: Head): Promise<bigint> {
  const price = BigInt(await node.request<Hex>('eth_gasPrice', []))
  return price > head.baseFee ? price - head.baseFee : 0n
}

/** The result of a call; undefined when the node does not have the method, or refuses. */
function optional<T>(answer: NodeAnswer | undefined): T | undefined {
  return answer?.ok ? ((answer.result as T | null) ?? undefined) : undefined
}

function median(values: readonly bigint[]): bigint {
  const sorted = [...values].sort(compareBigints)
  return sorted[Math.floor(sorted.length / 2)] ?? 0n
}

/** Remembers what may be bid at `head`. */
function noteAdvised(node: NodeClient, { number }: Pick<Head, 'number'>, advised: AdvisedFees) {
  const memory = node.memory(createFeeMemory)
  // Blocks that a reorganisation has replaced go with those that are too old.
  const recently = memory.recently.filter(
    (each) => each.number < number && each.number > number - ADVISED_BLOCKS,
  )
  memory.recently = [...recently, { number, most: mostAt(advised) }]
}

/**
 * The most that a client bids if it uses the `fast` fees, or doubles the node's advice, as viem does
 * by default. The bundler keeps the tip, so nothing above that is allowed.
 */
function mostAt({ fast, suggestion }: Pick<AdvisedFees, 'fast' | 'suggestion'>): Fees {
  const tip = fast.maxPriorityFeePerGas
  return {
    maxFeePerGas: fast.maxFeePerGas * 2n,
    maxPriorityFeePerGas: greatest(tip, smallest(suggestion ?? tip, tip) * 2n),
  }
}

/**
 * The most (wei per gas, each for itself) that a client may bid which asked at one of the last ten blocks, however
 * the fees have fallen since. `fast` is the present advice.
 */
export function mostBid(node: NodeClient, fast: Fees): Fees {
  const { recently } = node.memory(createFeeMemory)
  const noted = recently.map(({ most }) => most)
  const bids = [fast, ...(noted.length === 0 ? [mostAt({ fast })] : noted)]
  return {
    maxFeePerGas: greatest(0n, ...bids.map(({ maxFeePerGas }) => maxFeePerGas)),
    maxPriorityFeePerGas: greatest(0n, ...bids.map((bid) => bid.maxPriorityFeePerGas)),
  }
}
