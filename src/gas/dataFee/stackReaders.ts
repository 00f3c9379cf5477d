import type { Address, Hex } from 'viem'
import type { DataFeeKind } from '../../chain/definition/dataFee.js'
import type { Head } from '../../chain/head.js'
import type { NodeCall } from '../../chain/jsonRpc.js'
import type { DataPrice } from '../dataPrice.js'
import { arbitrumFee, arbitrumSize, lowestArbitrumBaseFee } from './arbitrum.js'
import {
  decodeBaseFeeRule,
  lowestBaseFee,
  type OpStackFork,
  operatorFeeOf,
  operatorFeePerGas,
  opStackFee,
  opStackSize,
} from './opStack.js'
import { scrollFee } from './scroll.js'

/** How the price of data is read from the chains of one stack. */
export type StackReader = {
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
export const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f'
/** Slots of L1Block: base fee, scalars of Ecotone, overhead and scalar of Bedrock, blob base fee, operator fee. */
const l1BlockSlots = [1, 3, 5, 6, 7, 8]
/** tokenRatio() of Mantle's oracle. */
export const TOKEN_RATIO = '0x06f837d3'

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

/** The oracle's first bytes of storage tell the forks that the chain has passed: Ecotone, Fjord, Isthmus, Jovian. */
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
