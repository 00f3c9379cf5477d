import type { Hex } from 'viem'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { Head } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'

/** The least that a chain's nodes ask of a transaction as its tip. */
export type TipFloor = {
  /** wei per gas, whatever the transaction is */
  readonly perGas: bigint
  /** wei for each of its bytes, spread over its gas */
  readonly perByte: bigint
}

/** The part of a definition that says what a chain asks for. */
export type TipRules = Pick<ChainDefinition, 'minimumTip'>

/** The bytes and the gas used of a bundle with one sponsored operation; smaller ones pay less for their bytes. */
const USUAL_BYTES = 1_200
const USUAL_GAS = 100_000n

/** The least tip (wei per gas) of a transaction of so many bytes that uses so much gas at least. */
export function tipOf({ perGas, perByte }: TipFloor, bytes: number, gas: bigint): bigint {
  return perGas + (perByte * BigInt(bytes) + gas - 1n) / gas
}

/** The least tip (wei per gas) of a bundle of usual size. */
export function usualTip(floor: TipFloor): bigint {
  return tipOf(floor, USUAL_BYTES, USUAL_GAS)
}

/** What the chain asks for after `head`. */
export async function readTipFloor(
  node: NodeClient,
  head: Head,
  { minimumTip = 0n }: TipRules,
): Promise<TipFloor> {
  if (minimumTip !== 'linea') return { perGas: minimumTip, perByte: 0n }
  const block = await node.request<{ extraData?: Hex } | null>('eth_getBlockByHash', [
    head.hash,
    false,
  ])
  const floor = decodeLineaFloor(block?.extraData ?? '0x')
  if (floor === undefined) throw new NodeUnavailableError('its header has no minimum tip')
  return floor
}

/** Linea's prices come in thousands of wei. */
const KILO_WEI = 1_000n

/**
 * Linea's terms in a header's extra data: version 1, then as 32 bits each the fixed cost for each gas and the variable
 * cost for each byte, in 1,000 wei. Undefined for other data. The sequencer counts bytes after its own compressor;
 * plain ones are an upper bound.
 */
export function decodeLineaFloor(extraData: Hex): TipFloor | undefined {
  if (!/^0x01[0-9a-f]{24}/i.test(extraData)) return undefined
  const word = (at: number) => BigInt(`0x${extraData.slice(4 + 8 * at, 12 + 8 * at)}`)
  return { perGas: word(0) * KILO_WEI, perByte: word(1) * KILO_WEI }
}
