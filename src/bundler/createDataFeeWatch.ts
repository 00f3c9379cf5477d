import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { ethCall } from '../chain/ethCall.js'
import type { Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { requireCalldataFloor } from '../chain/requireChain.js'
import { sizeOfCall } from '../gas/dataGas.js'
import { dataPriceAt } from '../gas/dataPrice.js'
import { placeholder } from '../gas/placeholder.js'

/** How the data fee of the node compares with ours. */
type DataFeeCompared = 'agrees' | 'differs' | 'unanswered'

/**
 * Compares the data fee that we compute with the node's own, where the chain takes it as gas (Arbitrum), and looks
 * whether a chain without a floor price of calldata has got one: on Arbitrum that is a switch of its governance.
 */
export type DataFeeWatch = {
  /** Compares once an hour; never throws. */
  look(head: Head): Promise<void>
}

type WatchContext = {
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'dataFee' | 'calldataFloor'>
  readonly logger: Logger
  /** The time in Unix milliseconds. */
  readonly now: () => number
  readonly metrics: ChainMetrics
}

const HOUR = 3_600_000
/** Millionths by which the two may differ: the node invents fields of a transaction, which compress otherwise. */
const TOLERANCE = 30_000n
const MILLION = 1_000_000n

/** Arbitrum's NodeInterface, which only a node's RPC answers for. */
const NODE_INTERFACE: Address = '0x00000000000000000000000000000000000000c8'
/** gasEstimateL1Component(address,bool,bytes) */
const GAS_ESTIMATE_L1_COMPONENT = '77d488a2'
/** Bytes of call data like those of a bundle: no compressor makes them shorter. */
const SAMPLE_BYTES = 1_024
const sample = placeholder(SAMPLE_BYTES, 61)
/** Nitro adds 256 units, the price of as many bytes, then 1 % for what it cannot know and 10 % for a rising price. */
const PADDING_BYTES = 16
const paddingPercent = [101n, 110n] as const

/** A watch of a chain that takes its data fee as gas, or has no floor price; undefined elsewhere: receipts hold the fee. */
export function createDataFeeWatch(context: WatchContext): DataFeeWatch | undefined {
  const { definition, logger, now, metrics } = context
  const { chainId, dataFee, calldataFloor } = definition
  const isGas = dataFee === 'arbitrum'
  if (!isGas && calldataFloor) return undefined
  const count = (outcome: DataFeeCompared): void =>
    metrics.count('purser_data_fee_compared_total', { outcome })
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    async look(head) {
      if (now() - lookedAt < HOUR) return
      lookedAt = now()
      const contradiction = await findFloor(context)
      if (contradiction !== undefined) {
        count('differs')
        logger.error({ chainId }, contradiction)
      }
      if (!isGas) return
      const estimates = await readEstimates(context, head).catch(() => undefined)
      const outcome = estimates === undefined ? 'unanswered' : compare(estimates)
      count(outcome)
      if (outcome === 'differs')
        logger.error(
          { chainId, ...estimates },
          'the node estimates a different data fee: the chain may have changed its formula; check what bundles cost',
        )
    },
  }
}

/** The sentence about a floor price that the definition denies; undefined where there is none, or the node does not report it. */
async function findFloor({ node, definition }: WatchContext): Promise<string | undefined> {
  try {
    await requireCalldataFloor(node, definition)
  } catch (error) {
    return error instanceof ConfigError ? error.message : undefined
  }
  return undefined
}

/** Gas for the data of a sample transaction. */
type Estimates = { readonly ofNode: bigint; readonly ours: bigint }

function compare({ ofNode, ours }: Estimates): DataFeeCompared {
  const apart = ofNode > ours ? ofNode - ours : ours - ofNode
  return apart * MILLION <= ours * TOLERANCE ? 'agrees' : 'differs'
}

/** Both estimates at the base fee that the node assumes; undefined when it gives none. */
async function readEstimates(
  { node, definition }: WatchContext,
  head: Head,
): Promise<Estimates | undefined> {
  const price = await dataPriceAt(node, definition.dataFee, head)
  const answer = await ethCall(node, { to: NODE_INTERFACE, data: question() })
  if (price === undefined || !answer.ok || answer.data.length < 2 + 2 * 64) return undefined
  const [ofNode, baseFee] = [0, 1].map((at) =>
    BigInt(`0x${answer.data.slice(2 + 64 * at, 66 + 64 * at)}`),
  ) as [bigint, bigint]
  if (baseFee === 0n) return undefined
  const [unknown, rising] = paddingPercent
  const size = sizeOfCall(price, NODE_INTERFACE, sample) + PADDING_BYTES
  return { ofNode, ours: (price.feeOf(size) * unknown * rising) / (10_000n * baseFee) }
}

/** The estimate of a call with the sample as its data; the node makes a transaction of it. */
function question(): Hex {
  const word = (value: number | bigint) => value.toString(16).padStart(64, '0')
  const head = [word(BigInt(NODE_INTERFACE)), word(0), word(96), word(SAMPLE_BYTES)].join('')
  return `0x${GAS_ESTIMATE_L1_COMPONENT}${head}${sample.slice(2)}`
}
