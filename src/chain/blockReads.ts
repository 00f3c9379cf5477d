import type { Address, Hex } from 'viem'
import { fromHex, type Miss } from '../evm/index.js'
import { type BlockId, blockParameter, type Head } from './head.js'
import type { NodeAnswer, NodeCall } from './jsonRpc.js'

/** A read of the state or the header of one block. */
export type Read =
  | Miss
  /** The balance of an account whose code is known. */
  | { readonly kind: 'balance'; readonly address: Address }
  /** The code of an account. */
  | { readonly kind: 'code'; readonly address: Address }
  /** The block's header. */
  | { readonly kind: 'header' }

/** The parts of a block's header that an execution needs, as far as nodes give them. */
export type Header = {
  readonly hash: Hex
  readonly coinbase: Address
  readonly gasLimit: bigint
  readonly prevRandao: Hex
  /** wei per blob gas */
  readonly blobBaseFee: bigint
}

/** The answers to reads of one block; slots by `storageKey`. */
export type BlockAnswers = {
  header?: Header
  readonly balances: Map<Address, bigint>
  readonly nonces: Map<Address, bigint>
  readonly codes: Map<Address, Uint8Array>
  readonly slots: Map<string, bigint>
  readonly blockHashes: Map<bigint, Hex>
}

/** The node no longer, or not yet, has the block. */
export class BlockGone extends Error {
  override readonly name = 'BlockGone'
}

export function noAnswers(): BlockAnswers {
  return {
    balances: new Map(),
    nonces: new Map(),
    codes: new Map(),
    slots: new Map(),
    blockHashes: new Map(),
  }
}

/** The key of a slot of a contract in a map. */
export function storageKey(address: Address, slot: Hex): string {
  return address + slot
}

/** The calls for one read, at the block that `pin` names. */
export function encodeRead(read: Read, head: Head, pin: BlockId): readonly NodeCall[] {
  const block = blockParameter(pin)
  const ask = (method: string, ...params: readonly unknown[]): NodeCall => ({ method, params })
  switch (read.kind) {
    case 'header':
      return [ask('eth_getBlockByHash', head.hash, false), ask('eth_blobBaseFee')]
    case 'blockHash':
      return [ask('eth_getBlockByNumber', blockParameter(read.number), false)]
    case 'slot':
      return [ask('eth_getStorageAt', read.address, read.slot, block)]
    case 'balance':
      return [ask('eth_getBalance', read.address, block)]
    case 'nonce':
      return [ask('eth_getTransactionCount', read.address, block)]
    case 'code':
      return [ask('eth_getCode', read.address, block)]
    case 'account':
      return ['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'].map((method) =>
        ask(method, read.address, block),
      )
  }
}

/**
 * Adds the node's answers, which are in the order of the reads. Throws BlockGone when one is missing:
 * reads of a block's state fail when the node does not have the block.
 */
export function decodeReads(
  reads: readonly Read[],
  settled: readonly NodeAnswer[],
  answers: BlockAnswers,
): void {
  let at = 0
  const next = () => resultOf(settled[at++])
  const nextNumber = () => BigInt(next() as Hex)
  for (const read of reads) {
    switch (read.kind) {
      case 'header': {
        const block = next()
        answers.header = decodeHeader(block, settled[at++])
        break
      }
      case 'blockHash':
        answers.blockHashes.set(read.number, (next() as { hash: Hex }).hash)
        break
      case 'slot':
        answers.slots.set(storageKey(read.address, read.slot), nextNumber())
        break
      case 'balance':
        answers.balances.set(read.address, nextNumber())
        break
      case 'nonce':
        answers.nonces.set(read.address, nextNumber())
        break
      case 'account':
        answers.nonces.set(read.address, nextNumber())
        answers.balances.set(read.address, nextNumber())
        answers.codes.set(read.address, fromHex(next() as Hex))
        break
      case 'code':
        answers.codes.set(read.address, fromHex(next() as Hex))
    }
  }
}

/** The result of one call. Throws BlockGone when it is missing. */
function resultOf(settled: NodeAnswer | undefined): unknown {
  if (settled === undefined) throw new BlockGone('an answer is missing')
  if (!settled.ok) throw new BlockGone(settled.error.message)
  if (settled.result === null) throw new BlockGone('the block is unknown')
  return settled.result
}

function decodeHeader(raw: unknown, blobBaseFee: NodeAnswer | undefined): Header {
  const { hash, miner, gasLimit, mixHash } = raw as Record<string, Hex>
  return {
    hash: hash as Hex,
    coinbase: (miner as Hex).toLowerCase() as Address,
    gasLimit: BigInt(gasLimit as Hex),
    prevRandao: mixHash ?? `0x${'00'.repeat(32)}`,
    blobBaseFee: blobBaseFee?.ok ? BigInt(blobBaseFee.result as Hex) : 1n,
  }
}
