import type { Address, Hex } from 'viem'
import type { Lru } from '../../base/lru.js'
import type { AccountState, BlockEnv, Fork, State } from '../../evm/index.js'
import { type BlockAnswers, BlockGone, type Header, type Read, storageKey } from '../blockReads.js'
import type { ChainRules } from '../chainRules.js'
import type { Head } from '../head.js'
import type { CodeMemory } from './codeMemory.js'
import type { ReadState } from './readState.js'

type Context = {
  readonly chainId: number
  readonly rules: ChainRules
  readonly codes: CodeMemory
  /** Contracts whose nonce was needed: those that create others. */
  readonly creators: Lru<Address, true>
  readonly readState: ReadState
}

/** Milliseconds after a batch before the next one, while the view is busy. */
const PAUSE = 6
/** Milliseconds for which a view is busy after a batch that several executions shared. */
const BUSY = 30
/** So many executions share the cost of a batch well enough. */
const MANY = 8

/**
 * The known part of the state of one block. It only grows: executions that overlap share it. Reads that
 * are asked for while a batch is under way, or in the pause between batches of a busy view, travel together in the next
 * one. An execution that comes alone does not wait.
 */
export class BlockView implements State {
  readonly head: Head
  readonly #context: Context
  /** That of the memory of code when the block was the chain's. */
  readonly #era: number
  readonly #accounts = new Map<Address, AccountState>()
  readonly #slots = new Map<string, bigint>()
  readonly #blockHashes = new Map<bigint, Hex>()
  #block: BlockEnv | undefined
  #queue = new Map<string, Read>()
  readonly #underWay = new Map<string, Promise<void>>()
  #lastBatch: Promise<void> = Promise.resolve()
  #nextBatch: Promise<void> | undefined
  /** Executions that wait for the queue. */
  #waiting = 0
  /** Times, as `performance.now()`: until when the view is busy, and before when no batch begins. */
  #busyUntil = 0
  #pausedUntil = 0

  constructor(head: Head, context: Context) {
    this.head = head
    this.#context = context
    this.#era = context.codes.era
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
    return this.#slots.get(storageKey(address, slot))
  }

  /** The environment of a call on this block; its header must have been fetched. */
  get block(): BlockEnv {
    if (this.#block === undefined) throw new Error('the header has not been fetched')
    return this.#block
  }

  /**
   * Reads the parts that are not known yet, and the header with the first reads. Resolves to whether the
   * node had to be asked. Throws BlockGone when it does not have the block.
   */
  async fetch(reads: readonly Read[]): Promise<boolean> {
    const batches = new Set<Promise<void>>()
    const queued = this.#queue.size
    for (const read of [{ kind: 'header' } as const, ...reads].flatMap((wanted) =>
      this.#plan(wanted),
    )) {
      const key = keyOf(read)
      let batch = this.#underWay.get(key)
      if (batch === undefined) {
        this.#queue.set(key, read)
        this.#nextBatch ??= this.#send()
        batch = this.#nextBatch
        this.#underWay.set(key, batch)
      }
      batches.add(batch)
    }
    if (this.#queue.size > queued) this.#waiting++
    await Promise.all(batches)
    return batches.size > 0
  }

  /** Sends the queue after the batch before and its pause; the failure of that batch is reported to its own readers. */
  #send(): Promise<void> {
    this.#lastBatch = this.#lastBatch
      .catch(() => undefined)
      .then(async () => {
        const wait = this.#pausedUntil - performance.now()
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
        const [queue, sharing] = [this.#queue, this.#waiting]
        this.#queue = new Map()
        this.#waiting = 0
        this.#nextBatch = undefined
        try {
          await this.#read([...queue.values()])
        } finally {
          for (const key of queue.keys()) this.#underWay.delete(key)
          this.#pauseAfter(sharing)
        }
      })
    return this.#lastBatch
  }

  #pauseAfter(sharing: number): void {
    const now = performance.now()
    if (sharing > 1) this.#busyUntil = now + BUSY
    if (sharing < MANY && now < this.#busyUntil) this.#pausedUntil = now + PAUSE
  }

  async #read(reads: readonly Read[]): Promise<void> {
    const { rules, readState } = this.#context
    const pin = rules.readsByHash ? this.head.hash : this.head.number
    this.#keep(await readState(reads, this.head, pin), rules.fork)
  }

  #keep({ header, balances, nonces, codes, slots, blockHashes }: BlockAnswers, fork: Fork): void {
    const memory = this.#context.codes
    if (header !== undefined && header.hash !== this.head.hash) throw new BlockGone('replaced')
    if (header !== undefined) this.#block = this.#environment(header)
    for (const [address, balance] of balances) {
      const code = codes.get(address)
      const bytes =
        code === undefined
          ? memory.atBlock(address, this.head.number)
          : memory.take(address, code, this.head.number, fork, this.#era)
      const nonce = this.#accounts.get(address)?.nonce
      if (bytes !== undefined) this.#accounts.set(address, { nonce, balance, code: bytes })
    }
    for (const [address, nonce] of nonces) {
      const account = this.#accounts.get(address)
      if (account !== undefined) this.#accounts.set(address, { ...account, nonce })
    }
    for (const [name, value] of slots) this.#slots.set(name, value)
    for (const [number, hash] of blockHashes) this.#blockHashes.set(number, hash)
  }

  #environment({ coinbase, gasLimit, prevRandao, blobBaseFee }: Header): BlockEnv {
    const { rules, chainId } = this.#context
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
   * The reads that are needed for what is not known yet. Code that cannot have changed is not asked for again, the
   * nonce of a contract only where it creates others.
   */
  #plan(read: Read): readonly Read[] {
    if (this.#knows(read)) return []
    const { codes, creators } = this.#context
    if (read.kind !== 'account' && read.kind !== 'nonce') return [read]
    const { address } = read
    const isLasting = codes.atBlock(address, this.head.number) !== undefined
    if (isLasting && read.kind === 'nonce') creators.set(address, true)
    const reads: Read[] = []
    if (!this.#accounts.has(address))
      reads.push({ kind: isLasting ? 'balance' : 'account', address })
    if (read.kind === 'nonce' || creators.get(address) !== undefined)
      reads.push({ kind: 'nonce', address })
    return reads
  }

  #knows(read: Read): boolean {
    switch (read.kind) {
      case 'header':
        return this.#block !== undefined
      case 'blockHash':
        return this.#blockHashes.has(read.number)
      case 'slot':
        return this.#slots.has(storageKey(read.address, read.slot))
      case 'nonce':
        return this.#accounts.get(read.address)?.nonce !== undefined
      default:
        return this.#accounts.has(read.address)
    }
  }
}

/** The known state of a block. */
export type KnownBlock = State & Pick<BlockView, 'head' | 'block'>

function keyOf(read: Read): string {
  switch (read.kind) {
    case 'header':
      return 'header'
    case 'blockHash':
      return read.number.toString()
    case 'slot':
      return storageKey(read.address, read.slot)
    case 'nonce':
      return `nonce of ${read.address}`
    default:
      return read.address
  }
}
