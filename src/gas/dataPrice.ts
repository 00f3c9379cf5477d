import type { Address, Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import type { ChainDefinition, DataFeeKind } from '../chain/definition/chainDefinition.js'
import { ethCall } from '../chain/ethCall.js'
import { blockParameter, type Head } from '../chain/head.js'
import type { NodeCall } from '../chain/jsonRpc.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode, readAtHead } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import {
  decodeBaseFeeRule,
  lowestBaseFee,
  type OpStackFork,
  operatorFeeOf,
  operatorFeePerGas,
  opStackFee,
  opStackSize,
} from './opStackFees.js'
import { arbitrumFee, arbitrumSize, lowestArbitrumBaseFee, scrollFee } from './otherStackFees.js'

/** The price that a chain takes for a transaction's bytes, on top of its gas, as of one block. */
export type DataPrice = {
  /** The size of signed bytes (EIP-2718, without a string header) for which the chain charges. */
  readonly sizeOf: (signed: Uint8Array) => number
  /** wei for a transaction of this size */
  readonly feeOf: (size: number) => bigint
  /** wei that the chain takes for the gas that a transaction used, on top of the gas price. */
  readonly operatorFeeOf: (gasUsed: bigint) => bigint
  /** The same as wei per gas, rounded up, and wei per transaction. */
  readonly operatorPerGas: bigint
  readonly operatorConstant: bigint
  /** wei per gas: no base fee of the coming blocks is lower. */
  readonly lowestBaseFee: bigint
  /** Whether the chain takes the fee as gas of the transaction, out of its gas limit. */
  readonly isInsideGas: boolean
}

/** How far L1's base fee may rise from one of its blocks to the next: one part in eight (EIP-1559). */
const STEP_NUMERATOR = 9n
const STEP_DENOMINATOR = 8n

/** The price of data after L1's price has risen by so many steps, the most that as many of its blocks can bring. */
export function afterSteps(price: DataPrice, steps: number): DataPrice {
  const numerator = STEP_NUMERATOR ** BigInt(steps)
  const denominator = STEP_DENOMINATOR ** BigInt(steps)
  const feeOf = (size: number): bigint =>
    (price.feeOf(size) * numerator + denominator - 1n) / denominator
  return { ...price, feeOf }
}

/** The price at the head for which it was read last. */
function createPriceMemory(): { read?: { hash: Hex; price: Promise<DataPrice> } | undefined } {
  return {}
}

/**
 * The price of data after `head`, by one batch of requests; those who ask at one head share it.
 * Undefined, and without any request, on a chain that has none.
 */
export async function dataPriceAt(
  node: NodeClient,
  dataFee: DataFeeKind | undefined,
  head: Head,
): Promise<DataPrice | undefined> {
  const reader = dataFee && stackReaders[dataFee]
  if (reader === undefined) return undefined
  const memory = node.memory(createPriceMemory)
  if (memory.read?.hash === head.hash) return memory.read.price
  const price = readDataPrice(node, reader, head)
  memory.read = { hash: head.hash, price }
  price.catch(() => {
    if (memory.read?.price === price) memory.read = undefined
  })
  return price
}

/** The price of data that held inside `block`, for what was included there. */
export async function dataPriceIn(
  node: NodeClient,
  dataFee: DataFeeKind | undefined,
  block: Head,
): Promise<DataPrice | undefined> {
  const reader = dataFee && stackReaders[dataFee]
  return reader && readDataPrice(node, reader, block)
}

function readDataPrice(node: NodeClient, reader: StackReader, head: Head): Promise<DataPrice> {
  return readAtHead(head, async (block) => {
    const answers = await node.batch(reader.calls(blockParameter(block), head))
    const results = answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return answer.result
    })
    return reader.price(results, head)
  })
}

/**
 * Checks that the chain charges for data as its definition says: with another answer the operator would lose
 * money on every operation, or nothing could be estimated.
 * @throws ConfigError in a sentence that names the right `dataFee`; node trouble
 */
export async function requireDataFee(
  node: NodeClient,
  { chainId, dataFee }: Pick<ChainDefinition, 'chainId' | 'dataFee'>,
): Promise<void> {
  const detected = (await detectDataFee(node)) ?? 'none'
  if (detected === dataFee) return
  const [missing] = stackReaders[dataFee]?.predeploys ?? []
  throw new ConfigError(
    detected === 'none'
      ? `Chain ${chainId} has no contract at ${missing}, which every chain with dataFee ${dataFee} has: correct facts.dataFee.`
      : `Chain ${chainId} has the contracts of a chain with dataFee ${detected}, not ${dataFee}: set facts.dataFee to "${detected}".`,
  )
}

/** The way of charging that the contracts on the chain belong to; undefined when there are none. */
async function detectDataFee(node: NodeClient): Promise<DataFeeKind | undefined> {
  for (const kind of ['opStack', 'arbitrum', 'scroll'] as const) {
    const contracts = stackReaders[kind]?.predeploys ?? []
    const codes = await Promise.all(contracts.map((address) => getCode(node, address)))
    if (codes.some((code: Hex) => code === '0x')) continue
    if (kind !== 'opStack') return kind
    const ratio = await ethCall(node, { to: GAS_PRICE_ORACLE, data: TOKEN_RATIO })
    return ratio.ok && ratio.data.length === 66 ? 'opStackTokenRatio' : 'opStack'
  }
  return undefined
}

/** The fields of a receipt with what the chain charged on top of gas. */
type DataFeeReceipt = Pick<TransactionReceipt, 'gasUsed' | 'l1Fee' | 'operatorFee'>

/**
 * wei that the chain charged a transaction's sender on top of its gas, by its receipt: the fee for data and, on
 * the OP stack, the operator's. Undefined when the receipt has no such fields.
 */
export function receiptDataFee({
  gasUsed,
  l1Fee,
  operatorFee,
}: DataFeeReceipt): bigint | undefined {
  if (l1Fee === undefined) return undefined
  return l1Fee + (operatorFee === undefined ? 0n : operatorFeeOf(operatorFee, gasUsed))
}

/** How the price of data is read from the chains of one stack. */
type StackReader = {
  /** Contracts of the stack that must be on the chain. */
  readonly predeploys: readonly Address[]
  /** The requests, with the parameter that names the block of the state. */
  readonly calls: (block: unknown, head: Head) => readonly NodeCall[]
  /** The price in their results. */
  readonly price: (results: readonly unknown[], head: Head) => DataPrice
}

/** Blocks between the look at prices and the inclusion of a transaction at most. */
const BLOCKS_AHEAD = 10

const noOperatorFee = {
  operatorFeeOf: () => 0n,
  operatorPerGas: 0n,
  operatorConstant: 0n,
} as const

const L1_BLOCK: Address = '0x4200000000000000000000000000000000000015'
const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f'
/** Slots of L1Block: base fee, scalars of Ecotone, overhead and scalar of Bedrock, blob base fee, operator fee. */
const l1BlockSlots = [1, 3, 5, 6, 7, 8]
/** tokenRatio() of Mantle's oracle. */
const TOKEN_RATIO = '0x06f837d3'

/** Bits `from` to `from + length - 1` of a word. */
function bits(word: bigint, from: number, length: number): bigint {
  return (word >> BigInt(from)) & ((1n << BigInt(length)) - 1n)
}

/** @param hasTokenRatio whether the chain's coin is another than L1's */
function opStackReader(hasTokenRatio: boolean): StackReader {
  return {
    predeploys: [L1_BLOCK, GAS_PRICE_ORACLE],
    calls: (block, { hash }) => [
      { method: 'eth_getBlockByHash', params: [hash, false] },
      ...l1BlockSlots.map((slot) => storageRead(L1_BLOCK, slot, block)),
      hasTokenRatio
        ? { method: 'eth_call', params: [{ to: GAS_PRICE_ORACLE, data: TOKEN_RATIO }, block] }
        : storageRead(GAS_PRICE_ORACLE, 0, block),
    ],
    price: ([header, ...results], { baseFee }) => {
      const words = results.map((result) => BigInt(result as Hex))
      const [l1BaseFee = 0n, scalars = 0n, overhead = 0n, scalar = 0n] = words
      const [, , , , blobBaseFee = 0n, operator = 0n, oracle = 0n] = words
      const { isJovian, ...rule } = decodeBaseFeeRule((header as { extraData: Hex }).extraData)
      const operatorFee = {
        rule: isJovian ? 'jovian' : 'isthmus',
        scalar: bits(operator, 64, 32),
        constant: bits(operator, 0, 64),
      } as const
      const prices = {
        fork: hasTokenRatio ? 'fjord' : forkOf(oracle),
        l1BaseFee,
        blobBaseFee,
        baseFeeScalar: bits(scalars, 96, 32),
        blobBaseFeeScalar: bits(scalars, 64, 32),
        overhead,
        scalar,
        tokenRatio: hasTokenRatio ? oracle : 1n,
        operatorFee,
      }
      return {
        sizeOf: (signed) => opStackSize(prices.fork, signed),
        feeOf: (size) => opStackFee(prices, size),
        operatorFeeOf: (gasUsed) => operatorFeeOf(operatorFee, gasUsed),
        operatorPerGas: operatorFeePerGas(operatorFee),
        operatorConstant: operatorFee.constant,
        lowestBaseFee: lowestBaseFee(rule, baseFee, BLOCKS_AHEAD),
        isInsideGas: false,
      }
    },
  }
}

/** The oracle's first bytes of storage show the forks that the chain has passed: Ecotone, Fjord, Isthmus, Jovian. */
function forkOf(flags: bigint): OpStackFork {
  if (bits(flags, 8, 8) !== 0n) return 'fjord'
  return bits(flags, 0, 8) === 0n ? 'bedrock' : 'ecotone'
}

const ARB_GAS_INFO: Address = '0x000000000000000000000000000000000000006c'
const L1_BASE_FEE_ESTIMATE = '0xf5d6ded7'
const MINIMUM_GAS_PRICE = '0xf918379a'

const arbitrumReader: StackReader = {
  predeploys: [ARB_GAS_INFO],
  calls: (block) =>
    [L1_BASE_FEE_ESTIMATE, MINIMUM_GAS_PRICE].map((data) => ({
      method: 'eth_call',
      params: [{ to: ARB_GAS_INFO, data }, block],
    })),
  price: (results, { baseFee }) => {
    const [pricePerUnit = 0n, minimumBaseFee = 0n] = results.map((word) => BigInt(word as Hex))
    const prices = { pricePerUnit, minimumBaseFee }
    return {
      sizeOf: arbitrumSize,
      feeOf: (size) => arbitrumFee(prices, size),
      ...noOperatorFee,
      lowestBaseFee: lowestArbitrumBaseFee(prices, baseFee),
      isInsideGas: true,
    }
  },
}

const SCROLL_ORACLE: Address = '0x5300000000000000000000000000000000000002'
/** l1BaseFee, l1BlobBaseFee, execScalar, blobScalar, penaltyFactor */
const scrollSlots = [1, 5, 6, 7, 10]

const scrollReader: StackReader = {
  predeploys: [SCROLL_ORACLE],
  calls: (block) => scrollSlots.map((slot) => storageRead(SCROLL_ORACLE, slot, block)),
  price: (results, { baseFee }) => {
    const [l1BaseFee = 0n, l1BlobBaseFee = 0n, execScalar = 0n, blobScalar = 0n, penalty = 0n] =
      results.map((word) => BigInt(word as Hex))
    const prices = { l1BaseFee, l1BlobBaseFee, execScalar, blobScalar, penaltyFactor: penalty }
    return {
      sizeOf: (signed) => signed.length,
      feeOf: (size) => scrollFee(prices, size),
      ...noOperatorFee,
      lowestBaseFee: (baseFee * 7n) / 8n,
      isInsideGas: false,
    }
  },
}

export const stackReaders: Readonly<Record<DataFeeKind, StackReader | undefined>> = {
  none: undefined,
  opStack: opStackReader(false),
  opStackTokenRatio: opStackReader(true),
  arbitrum: arbitrumReader,
  scroll: scrollReader,
}

function storageRead(contract: Address, slot: number, block: unknown): NodeCall {
  return { method: 'eth_getStorageAt', params: [contract, `0x${slot.toString(16)}`, block] }
}
