import type { Address } from 'viem'
import { addressKey, addressOfLimbs, limbsOf, slotKey } from '../bytes/limbs.js'
import { StopAtMiss } from '../machine/signal.js'
import type { Precompile } from '../precompiles/index.js'
import { createEvmAccount, createSlot, type EvmAccount, type EvmSlot } from './account.js'
import { type Code, codeOf } from './code.js'
import type { EvmAccountOverride, Miss, Overrides, State } from './state.js'

/** The reaction to unknown state: end at once, or go on with zeros and collect every miss. */
export type OnMiss = 'stop' | 'guess'

/**
 * The world during one transaction: accounts and slots met so far, each with its warm flag
 * (EIP-2929), the refund counter, and a journal by which a failed frame is undone.
 */
export class World {
  readonly misses: Miss[] = []
  refund = 0
  readonly #state: State
  readonly #onMiss: OnMiss
  readonly #precompiles: ReadonlyMap<number, Precompile>
  readonly #accounts = new Map<string, EvmAccount>()
  #undo: (() => void)[] = []

  constructor(state: State, onMiss: OnMiss, precompiles: ReadonlyMap<number, Precompile>) {
    this.#state = state
    this.#onMiss = onMiss
    this.#precompiles = precompiles
  }

  /** The account whose five limbs start at `at`; nothing is read from the state yet. */
  at(limbs: Uint32Array, at: number): EvmAccount {
    const key = addressKey(limbs, at)
    let account = this.#accounts.get(key)
    if (account === undefined) {
      const ownLimbs = limbs.slice(at, at + 5)
      account = createEvmAccount(
        addressOfLimbs(ownLimbs, 0),
        ownLimbs,
        this.#precompileAt(ownLimbs),
      )
      this.#accounts.set(key, account)
    }
    return account
  }

  #precompileAt(limbs: Uint32Array): Precompile | undefined {
    const high = limbs[1]! | limbs[2]! | limbs[3]! | limbs[4]!
    return high === 0 ? this.#precompiles.get(limbs[0]!) : undefined
  }

  account(address: Address): EvmAccount {
    return this.at(limbsOf(address, 5), 0)
  }

  /** Fills in nonce, balance and code. Must precede any use of them. */
  load(account: EvmAccount): EvmAccount {
    if (account.loaded) return account
    account.loaded = true
    const known = this.#state.account(account.address)
    if (known === undefined) this.miss({ kind: 'account', address: account.address })
    else {
      account.nonce = known.nonce
      account.balance = known.balance
      account.code = codeOf(known.code)
      account.hasStorage = known.hasStorage ?? false
    }
    return account
  }

  /** The account's nonce. */
  nonceOf(account: EvmAccount): bigint {
    this.load(account)
    if (account.nonce === undefined) this.miss({ kind: 'nonce', address: account.address })
    account.nonce ??= 0n
    return account.nonce
  }

  miss(miss: Miss): void {
    this.misses.push(miss)
    if (this.#onMiss === 'stop') throw new StopAtMiss()
  }

  /** EIP-161: no nonce, no balance, no code. */
  isEmpty(account: EvmAccount): boolean {
    this.load(account)
    return account.code.bytes.length === 0 && account.balance === 0n && this.nonceOf(account) === 0n
  }

  slot(account: EvmAccount, limbs: Uint32Array, at: number): EvmSlot {
    const key = slotKey(limbs, at)
    let slot = account.slots.get(key)
    if (slot === undefined) {
      slot = createSlot(limbs, at)
      account.slots.set(key, slot)
    }
    return slot
  }

  /** The slot's present value, read from the state the first time. */
  read(account: EvmAccount, slot: EvmSlot): bigint {
    if (slot.value !== undefined) return slot.value
    const value = account.created ? 0n : this.#state.slot(account.address, slot.key)
    if (value === undefined) this.miss({ kind: 'slot', address: account.address, slot: slot.key })
    slot.original = value ?? 0n
    slot.value = slot.original
    return slot.value
  }

  write(slot: EvmSlot, value: bigint): void {
    const previous = slot.value
    this.#undo.push(() => {
      slot.value = previous
    })
    slot.value = value
  }

  readTransient(account: EvmAccount, key: string): bigint {
    return account.transient?.get(key) ?? 0n
  }

  writeTransient(account: EvmAccount, key: string, value: bigint): void {
    account.transient ??= new Map()
    const values = account.transient
    const previous = values.get(key) ?? 0n
    this.#undo.push(() => values.set(key, previous))
    values.set(key, value)
  }

  warm(entry: EvmAccount | EvmSlot): void {
    if (entry.warm) return
    entry.warm = true
    this.#undo.push(() => {
      entry.warm = false
    })
  }

  addRefund(gas: number): void {
    if (gas === 0) return
    const previous = this.refund
    this.#undo.push(() => {
      this.refund = previous
    })
    this.refund += gas
  }

  setBalance(account: EvmAccount, balance: bigint): void {
    this.load(account)
    this.touch(account)
    const previous = account.balance
    this.#undo.push(() => {
      account.balance = previous
    })
    account.balance = balance
  }

  setNonce(account: EvmAccount, nonce: bigint): void {
    const previous = account.nonce
    this.touch(account)
    this.#undo.push(() => {
      account.nonce = previous
    })
    account.nonce = nonce
  }

  setCode(account: EvmAccount, code: Code): void {
    const previous = account.code
    this.touch(account)
    this.#undo.push(() => {
      account.code = previous
    })
    account.code = code
  }

  markCreated(account: EvmAccount): void {
    this.#undo.push(() => {
      account.created = false
    })
    account.created = true
  }

  markDestroyed(account: EvmAccount): void {
    if (account.destroyed) return
    this.#undo.push(() => {
      account.destroyed = false
    })
    account.destroyed = true
  }

  touch(account: EvmAccount): void {
    if (account.touched) return
    account.touched = true
    this.#undo.push(() => {
      account.touched = false
    })
  }

  transfer(from: EvmAccount, to: EvmAccount, value: bigint): void {
    this.touch(to)
    if (value === 0n) return
    this.setBalance(from, this.load(from).balance - value)
    this.setBalance(to, this.load(to).balance + value)
  }

  /** Has `undo` called when what happens now is undone. */
  onRollback(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** A point to which `rollback` can return. */
  mark(): number {
    return this.#undo.length
  }

  rollback(mark: number): void {
    while (this.#undo.length > mark) this.#undo.pop()!()
  }

  /**
   * The changes by this transaction, as overrides: lay them over the state to run the next one.
   * Deleted accounts appear with zeros, no code and no storage; where destroyed ones keep their
   * balance (EIP-8246), with that.
   */
  changes(keepsBalance: boolean): Overrides {
    const changes = new Map<Address, EvmAccountOverride>()
    for (const account of this.#accounts.values()) {
      const change = changeOf(account, keepsBalance)
      if (change !== undefined) changes.set(account.address, change)
    }
    return changes
  }
}

const deletedAccount: EvmAccountOverride = {
  nonce: 0n,
  balance: 0n,
  code: new Uint8Array(0),
  state: new Map(),
}

function changeOf(account: EvmAccount, keepsBalance: boolean): EvmAccountOverride | undefined {
  if (account.destroyed) {
    return keepsBalance ? { ...deletedAccount, balance: account.balance } : deletedAccount
  }
  const slots = new Map<EvmSlot['key'], bigint>()
  for (const slot of account.slots.values()) {
    if (slot.value !== undefined && slot.value !== slot.original) slots.set(slot.key, slot.value)
  }
  if (!account.touched && slots.size === 0) return undefined
  const { nonce, balance, code } = account
  const storage = account.created ? { state: slots } : { stateDiff: slots }
  return account.touched && account.loaded
    ? { ...(nonce !== undefined && { nonce }), balance, code: code.bytes, ...storage }
    : storage
}
