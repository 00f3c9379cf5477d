import type { Address, Hex } from 'viem'
import type { AccountState, BlockEnv, Fork, State } from '../evm/index.js'
import {
  type Answers,
  BlockGone,
  decodeReads,
  encodeRead,
  type Header,
  type Read,
} from './blockReads.js'
import type { ChainRules } from './chainRules.js'
import type { CodeMemory } from './codeMemory.js'
import type { Call, Settled } from './jsonRpc.js'
import type { Head } from './nodeReads.js'

type Context = {
  readonly chainId: number
  readonly rules: ChainRules
  readonly codes: CodeMemory
  batch(calls: readonly Call[]): Promise<readonly Settled[]>
}

/**
 * What is known of the state of one block. It only grows: runs that overlap share it. Reads that are
 * asked for while a batch is under way travel together in the next one.
 */
export class BlockView implements State {
  readonly head: Head
  readonly #context: Context
  readonly #accounts = new Map<Address, AccountState>()
  readonly #slots = new Map<string, bigint>()
  readonly #blockHashes = new Map<bigint, Hex>()
  #header: Header | undefined
  #queue = new Map<string, Read>()
  readonly #underWay = new Map<string, Promise<void>>()
  #lastBatch: Promise<void> = Promise.resolve()
  #nextBatch: Promise<void> | undefined

  constructor(head: Head, context: Context) {
    this.head = head
    this.#context = context
    this.#blockHashes.set(head.number - 1n, head.parentHash)
  }

  /** Accounts and slots known. */
  get size(): number {
    return this.#accounts.size + this.#slots.size
  }

  account(address: Address): AccountState | undefined {
    return this.#accounts.get(address)
  }

  slot(address: Address, slot: Hex): bigint | undefined {
    return this.#slots.get(address + slot)
  }

  /** The environment of a call on this block; its header must have been fetched. */
  get block(): BlockEnv {
    if (this.#header === undefined) throw new Error('the header has not been fetched')
    const { rules, chainId } = this.#context
    const { coinbase, gasLimit, prevRandao, blobBaseFee } = this.#header
    const { number, timestamp, baseFee } = this.head
    return {
      ...rules,
      chainId: BigInt(chainId),
      number,
      timestamp: BigInt(timestamp),
      coinbase,
      gasLimit,
      prevRandao,
      baseFee,
      blobBaseFee,
      blockHash: (wanted) => this.#blockHashes.get(wanted),
    }
  }

  /**
   * Learns what is not known yet, and the header with the first reads. Resolves to whether the node had
   * to be asked. Throws BlockGone when it does not have the block.
   */
  async fetch(reads: readonly Read[]): Promise<boolean> {
    const batches = new Set<Promise<void>>()
    for (const read of [{ kind: 'header' } as const, ...reads]) {
      if (this.#knows(read)) continue
      const key = keyOf(read)
      let batch = this.#underWay.get(key)
      if (batch === undefined) {
        this.#queue.set(key, this.#cheapest(read))
        this.#nextBatch ??= this.#send()
        batch = this.#nextBatch
        this.#underWay.set(key, batch)
      }
      batches.add(batch)
    }
    await Promise.all(batches)
    return batches.size > 0
  }

  /** Sends what is queued by then when the batch before has come back; who awaits that sees its failure. */
  #send(): Promise<void> {
    this.#lastBatch = this.#lastBatch
      .catch(() => undefined)
      .then(async () => {
        const queue = this.#queue
        this.#queue = new Map()
        this.#nextBatch = undefined
        try {
          await this.#read([...queue.values()])
        } finally {
          for (const key of queue.keys()) this.#underWay.delete(key)
        }
      })
    return this.#lastBatch
  }

  async #read(reads: readonly Read[]): Promise<void> {
    const { rules, batch } = this.#context
    const pin = rules.readsByHash ? this.head.hash : this.head.number
    const calls = reads.flatMap((read) => encodeRead(read, this.head, pin))
    const answers = decodeReads(reads, await batch(calls))
    this.#keep(answers, rules.fork)
  }

  #keep({ header, accounts, slots, blockHashes }: Answers, fork: Fork): void {
    const { codes } = this.#context
    if (header !== undefined && header.hash !== this.head.hash) throw new BlockGone('replaced')
    if (header !== undefined) this.#header = header
    for (const [address, { nonce, balance, code }] of accounts) {
      const bytes =
        code === undefined ? codes.at(address) : codes.take(address, code, this.head.number, fork)
      if (bytes !== undefined) this.#accounts.set(address, { nonce, balance, code: bytes })
    }
    for (const [address, values] of slots) {
      for (const [slot, value] of values) this.#slots.set(address + slot, value)
    }
    for (const [number, hash] of blockHashes) this.#blockHashes.set(number, hash)
  }

  /** Code that cannot have changed is not asked for again. */
  #cheapest(read: Read): Read {
    if (read.kind !== 'account' || this.#context.codes.at(read.address) === undefined) return read
    return { kind: 'balance', address: read.address }
  }

  #knows(read: Read): boolean {
    switch (read.kind) {
      case 'header':
        return this.#header !== undefined
      case 'blockHash':
        return this.#blockHashes.has(read.number)
      case 'slot':
        return this.#slots.has(read.address + read.slot)
      default:
        return this.#accounts.has(read.address)
    }
  }
}

function keyOf(read: Read): string {
  switch (read.kind) {
    case 'header':
      return 'header'
    case 'blockHash':
      return read.number.toString()
    case 'slot':
      return read.address + read.slot
    default:
      return read.address
  }
}
