import type { Address, Hex } from 'viem'
import type { Miss } from '../evm/index.js'
import type { Call, Settled } from './jsonRpc.js'
import { type BlockId, blockParameter, type Head } from './nodeReads.js'

/** Something to learn about one block. */
export type Read =
  | Miss
  /** Of an account whose code is known. */
  | { readonly kind: 'balance'; readonly address: Address }
  /** The block's header. */
  | { readonly kind: 'header' }

/** What the header says that a run needs, as far as nodes tell it. */
export type Header = {
  readonly hash: Hex
  readonly coinbase: Address
  readonly gasLimit: bigint
  readonly prevRandao: Hex
  /** wei per blob gas */
  readonly blobBaseFee: bigint
}

export type Answers = {
  header?: Header
  readonly accounts: Map<Address, { nonce: bigint; balance: bigint; code: Hex | undefined }>
  readonly slots: Map<Address, Map<Hex, bigint>>
  readonly blockHashes: Map<bigint, Hex>
}

/** The node no longer, or not yet, has the block. */
export class BlockGone extends Error {
  override readonly name = 'BlockGone'
}

/** The calls for one read, at a block that is named by `pin`. */
export function encodeRead(read: Read, head: Head, pin: BlockId): readonly Call[] {
  const block = blockParameter(pin)
  switch (read.kind) {
    case 'header':
      return [
        { method: 'eth_getBlockByHash', params: [head.hash, false] },
        { method: 'eth_blobBaseFee', params: [] },
      ]
    case 'blockHash':
      return [{ method: 'eth_getBlockByNumber', params: [blockParameter(read.number), false] }]
    case 'slot':
      return [{ method: 'eth_getStorageAt', params: [read.address, read.slot, block] }]
    default: {
      const methods = ['eth_getTransactionCount', 'eth_getBalance']
      if (read.kind === 'account') methods.push('eth_getCode')
      return methods.map((method) => ({ method, params: [read.address, block] }))
    }
  }
}

/**
 * What the node answered, in the order of the reads. Throws BlockGone when an answer is missing: reads
 * of a block's state fail when the node does not have it.
 */
export function decodeReads(reads: readonly Read[], settled: readonly Settled[]): Answers {
  const answers: Answers = { accounts: new Map(), slots: new Map(), blockHashes: new Map() }
  let at = 0
  const next = () => result(settled[at++])
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
        slotsOf(answers, read.address).set(read.slot, BigInt(next() as Hex))
        break
      default: {
        const [nonce, balance] = [BigInt(next() as Hex), BigInt(next() as Hex)]
        const code = read.kind === 'account' ? (next() as Hex) : undefined
        answers.accounts.set(read.address, { nonce, balance, code })
      }
    }
  }
  return answers
}

function slotsOf({ slots }: Answers, address: Address): Map<Hex, bigint> {
  const known = slots.get(address) ?? new Map<Hex, bigint>()
  slots.set(address, known)
  return known
}

function result(settled: Settled | undefined): unknown {
  if (settled === undefined) throw new BlockGone('an answer is missing')
  if (!settled.ok) throw new BlockGone(settled.error.message)
  if (settled.result === null) throw new BlockGone('the block is unknown')
  return settled.result
}

function decodeHeader(raw: unknown, blobBaseFee: Settled | undefined): Header {
  const { hash, miner, gasLimit, mixHash } = raw as Record<string, Hex>
  return {
    hash: hash as Hex,
    coinbase: (miner as Hex).toLowerCase() as Address,
    gasLimit: BigInt(gasLimit as Hex),
    prevRandao: mixHash ?? `0x${'00'.repeat(32)}`,
    blobBaseFee: blobBaseFee?.ok ? BigInt(blobBaseFee.result as Hex) : 1n,
  }
}
