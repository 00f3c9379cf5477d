import type { Address } from 'viem'
import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem/utils'
import type {
  FeedDefinition,
  PriceSourceDefinition,
  SequencerDefinition,
} from '../../chain/definition/tokenDefinition.js'
import { ethCall } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { ONE, perNativeOf } from './perNative.js'
import { checkRound, checkSequencer, type PriceOrReason, type Round } from './round.js'

const abi = parseAbi([
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
  'function decimals() view returns (uint8)',
])

async function readRound(node: NodeClient, to: Address): Promise<Round | undefined> {
  const functionName = 'latestRoundData'
  const outcome = await ethCall(node, { to, data: encodeFunctionData({ abi, functionName }) })
  if (!outcome.ok || outcome.data.length !== 2 + 5 * 64) return undefined
  const [roundId, answer, startedAt, updatedAt, answeredInRound] = decodeFunctionResult({
    abi,
    functionName,
    data: outcome.data,
  })
  return { roundId, answer, startedAt, updatedAt, answeredInRound }
}

/** The decimals of a token or feed; undefined where there is none. */
export async function readDecimals(node: NodeClient, to: Address): Promise<number | undefined> {
  const functionName = 'decimals'
  const outcome = await ethCall(node, { to, data: encodeFunctionData({ abi, functionName }) })
  if (!outcome.ok || outcome.data.length !== 66) return undefined
  return decodeFunctionResult({ abi, functionName, data: outcome.data })
}

/**
 * The price of a feed in the newest block, checked at `at` (Unix seconds). Throws errors of the
 * node.
 */
async function readFeed(
  node: NodeClient,
  feed: FeedDefinition,
  at: number,
): Promise<PriceOrReason> {
  const [round, decimals] = await Promise.all([
    readRound(node, feed.address),
    readDecimals(node, feed.address),
  ])
  if (round === undefined || decimals === undefined)
    return { reason: `there is no price feed at ${feed.address}` }
  return checkRound(round, decimals, feed, at)
}

type Feeds = Extract<PriceSourceDefinition, { kind: 'feeds' }>

/** The whole tokens per native coin, 18 decimals, by feeds on the chain; a side without a feed counts as one. */
export async function perNativeByFeeds(
  node: NodeClient,
  { token, native }: Feeds,
  at: number,
): Promise<PriceOrReason> {
  const [ofToken, ofNative] = await Promise.all([
    token === undefined ? { price: ONE, updatedAt: at } : readFeed(node, token, at),
    native === undefined ? { price: ONE, updatedAt: at } : readFeed(node, native, at),
  ])
  if (ofToken.price === undefined) return ofToken
  if (ofNative.price === undefined) return ofNative
  const updatedAt = Math.min(ofToken.updatedAt ?? at, ofNative.updatedAt ?? at)
  return { price: perNativeOf(ofNative.price, ofToken.price), updatedAt }
}

/** The reason why feeds of this chain cannot be used now; undefined = they can. */
export async function sequencerTrouble(
  node: NodeClient,
  sequencer: SequencerDefinition,
  at: number,
): Promise<string | undefined> {
  const round = await readRound(node, sequencer.address)
  if (round === undefined) return `there is no sequencer feed at ${sequencer.address}`
  return checkSequencer(round, sequencer, at)
}
