import type { Hex } from 'viem'
import { unixNow } from '../base/unixNow.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { Head } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { NodeRpcError } from './nodeErrors.js'
import { getBlock } from './nodeReads.js'

/** A block that the chain does not have yet, as it is expected. */
export type ComingBlock = {
  readonly number: bigint
  /** Unix seconds */
  readonly timestamp: number
}

/** Blocks over which their interval is averaged. */
const SAMPLE = 50n
/** Blocks after which the interval is measured again. */
const MEASURED_AGAIN = 1_000n
/** Seconds between blocks. The longest of a public chain; a development chain makes blocks when it likes. */
const LONGEST_INTERVAL = 12
const SHORTEST_INTERVAL = 0.1

type ClockMemory = {
  /** The interval as it was measured at a block. */
  measured?: { readonly at: bigint; readonly interval: Promise<number> } | undefined
  overridesBlocks?: Promise<boolean> | undefined
}

function createClockMemory(): ClockMemory {
  return {}
}

/** Seconds between two blocks of the chain, the average of the last 50; node trouble is thrown. */
export function blockInterval(node: NodeClient, head: Head): Promise<number> {
  const memory = node.memory(createClockMemory)
  const known = memory.measured
  if (known && head.number >= known.at && head.number < known.at + MEASURED_AGAIN)
    return known.interval
  const interval = measure(node, head)
  memory.measured = { at: head.number, interval }
  interval.catch(() => {
    if (memory.measured?.interval === interval) memory.measured = undefined
  })
  return interval
}

async function measure(node: NodeClient, head: Head): Promise<number> {
  const blocks = head.number < SAMPLE ? head.number : SAMPLE
  const older = blocks > 0n ? await getBlock(node, head.number - blocks) : undefined
  if (older === undefined) return LONGEST_INTERVAL
  const average = (head.timestamp - older.timestamp) / Number(blocks)
  return Math.min(Math.max(average, SHORTEST_INTERVAL), LONGEST_INTERVAL)
}

/**
 * The block that comes `blocks` blocks and then `milliseconds` after `head`, with the latest time that it
 * is expected to have. The clock counts where the head is old: the next block will have its time.
 */
export async function comingBlock(
  node: NodeClient,
  head: Head,
  blocks: number,
  milliseconds = 0,
): Promise<ComingBlock> {
  const interval = await blockInterval(node, head)
  const later = milliseconds / 1_000
  return {
    number: head.number + BigInt(blocks + Math.ceil(later / interval)),
    timestamp: Math.max(head.timestamp, unixNow()) + Math.ceil(blocks * interval + later),
  }
}

/** Blocks that an operation must stay valid behind the head at which it is bundled, admitted. */
const BUNDLED_BLOCKS = 2
const ADMITTED_BLOCKS = 3
/** Milliseconds; an operator who never raises fees does not ask for operations that are valid for ever. */
const LONGEST_RESUBMISSION = 60_000
/** Seconds for which an operation must stay valid to be admitted, at least (ERC-7769 -32503). */
const MINIMUM_LIFE = 30

type Resubmission = Pick<ChainDefinition, 'resubmitAfter'>

/**
 * The last block in which an operation must be valid that is bundled after `head`: two blocks and one
 * resubmission later. A bundle with one that ends before could be mined too late, and revert.
 */
export function bundlingHorizon(
  node: NodeClient,
  head: Head,
  { resubmitAfter }: Resubmission,
): Promise<ComingBlock> {
  return comingBlock(node, head, BUNDLED_BLOCKS, Math.min(resubmitAfter, LONGEST_RESUBMISSION))
}

/** The last block in which an operation must be valid to be admitted: one block more, at least 30 s. */
export async function admissionHorizon(
  node: NodeClient,
  head: Head,
  { resubmitAfter }: Resubmission,
): Promise<ComingBlock> {
  const wait = Math.min(resubmitAfter, LONGEST_RESUBMISSION)
  const { number, timestamp } = await comingBlock(node, head, ADMITTED_BLOCKS, wait)
  const least = Math.max(head.timestamp, unixNow()) + MINIMUM_LIFE
  return { number, timestamp: Math.max(timestamp, least) }
}

/** The block that a call pretends to run in, as nodes take it. */
export type BlockOverride = { readonly number: Hex; readonly time: Hex }

/** A creation that returns the number of its block. */
const NUMBER_PROBE = '0x4360005260206000f3'
const PROBED_NUMBER = '0x7fffffff'

/**
 * The override by which a call runs in the block after `head`; undefined where the node does not know
 * overrides.
 */
export async function comingBlockOverride(
  node: NodeClient,
  head: Head,
): Promise<BlockOverride | undefined> {
  const { number, timestamp } = await comingBlock(node, head, 1)
  const memory = node.memory(createClockMemory)
  if (memory.overridesBlocks === undefined) {
    memory.overridesBlocks = overridesBlocks(node)
    memory.overridesBlocks.catch(() => {
      memory.overridesBlocks = undefined
    })
  }
  return (await memory.overridesBlocks)
    ? { number: `0x${number.toString(16)}`, time: `0x${timestamp.toString(16)}` }
    : undefined
}

/** Whether eth_call takes a block override (as a fourth parameter) and obeys it. */
async function overridesBlocks(node: NodeClient): Promise<boolean> {
  const params = [{ data: NUMBER_PROBE }, 'latest', {}, { number: PROBED_NUMBER }]
  try {
    return BigInt(await node.request<Hex>('eth_call', params)) === BigInt(PROBED_NUMBER)
  } catch (error) {
    if (error instanceof NodeRpcError) return false
    throw error
  }
}
