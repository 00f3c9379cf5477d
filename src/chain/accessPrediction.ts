import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import { keccak } from '../erc4337/encoding/keccak.js'
import { type Miss, type Preimage, type State, type Touched, toHex } from '../evm/index.js'
import type { CodeMemory } from './state/codeMemory.js'

/** The parts that differ between two executions of the same code, and move the slots they touch. */
type AccessSubject = {
  readonly sender: Address
  /** High 192 bits of the nonce. */
  readonly nonceKey: bigint
}

/** Hints about the state that an execution will touch, by which it is read beforehand. */
export type AccessHints = AccessSubject & {
  /** Names under which touched state is remembered, the most specific first. */
  readonly names: readonly [string, ...string[]]
  /** Contracts that are sure to be called. */
  readonly accounts: readonly Address[]
  /** Slots that are sure to be read. */
  readonly slots: readonly (readonly [Address, Hex])[]
  /** Accounts whose nonce is sure to be needed: those that create another, and that other where it may have wei. */
  readonly nonces: readonly Address[]
}

/** The slot in which an ERC-1967 proxy keeps the address of its implementation. */
const IMPLEMENTATION_SLOT: Hex =
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/** Code and touched state, as earlier executions have shown them. */
export type AccessMemory = { readonly codes: CodeMemory; readonly touches: AccessPatterns }

/** The state that an execution will likely touch; `isLearnt` when the most specific key predicted it. */
type PredictedReads = { readonly reads: readonly Miss[]; readonly isLearnt: boolean }

/** The reads that `hints` name and those that earlier executions of the same name have needed. */
export function predictReads(
  { codes, touches }: AccessMemory,
  hints: AccessHints,
  known: State,
): PredictedReads {
  const names = namesWithCode(codes, hints.names, hints.sender, known)
  const at = names.findIndex((name) => touches.knows(name))
  const recalled = at < 0 ? [] : touches.recall(names[at] as string, hints)
  const slots = hints.slots.map(([address, slot]) => ({ kind: 'slot', address, slot }) as const)
  const nonces = hints.nonces.map((address) => ({ kind: 'nonce', address }) as const)
  const accounts = hints.accounts.flatMap((address) => readsOfContract(codes, address))
  return { reads: [...accounts, ...nonces, ...slots, ...recalled], isLearnt: at === 0 }
}

/** Remembers what an execution touched, under its most specific and its most general name. */
export function learnAccesses(
  { codes, touches }: AccessMemory,
  hints: AccessHints,
  known: State,
  { touched, preimages }: Accesses,
): void {
  const [name] = hints.names
  const general = hints.names.at(-1) ?? name
  const names = [...namesWithCode(codes, [name], hints.sender, known), general]
  touches.learn(names, hints, touched, preimages)
}

/** `names` joined with the hash of the sender's code, which predicts best, before `names` alone. */
function namesWithCode(
  codes: CodeMemory,
  names: readonly string[],
  sender: Address,
  known: State,
): string[] {
  const code = codes.at(sender) ?? known.account(sender)?.code
  const hash = code && codes.hashOf(code)
  return hash === undefined ? [...names] : [...names.map((name) => `${name} ${hash}`), ...names]
}

/** A contract that is met for the first time may be a proxy: reading its slot now saves a round. */
function readsOfContract(codes: CodeMemory, address: Address): Miss[] {
  const account = { kind: 'account', address } as const
  if (codes.at(address) !== undefined) return [account]
  return [account, { kind: 'slot', address, slot: IMPLEMENTATION_SLOT }]
}

/** The part of an execution by which the state of the next one of its kind is foreseen. */
export type Accesses = {
  readonly touched: Touched
  /** Inputs of KECCAK256, which lead to the slots. */
  readonly preimages: readonly Preimage[]
}

/** A word of a hashed input; a number is the position of an earlier hash. */
type Term = Hex | number | 'sender' | 'nonceKey'
type Place = Address | 'sender'
/** A slot: a fixed word, or one at a short distance behind a hash. */
type SlotPattern = Hex | { readonly hash: number; readonly distance: bigint }

/** Touched accounts and slots in a form that holds for another sender. */
type Pattern = {
  readonly accounts: readonly Place[]
  readonly hashes: readonly (readonly Term[])[]
  readonly slots: readonly (readonly [Place, SlotPattern])[]
}

const MAX_PATTERNS = 2_000
const MAX_TOUCHED = 300
/** Hashes of one execution that are looked at: each of them is compared with each slot. */
const MAX_HASHES = 300
/** Fields of a struct and elements of a short array stand this close behind the hash of their key. */
const MAX_DISTANCE = 16n

/**
 * A memory of the state that executions touched, by their names, so that it can be read before the next
 * one of the same name. Storage of mappings lies at hashes of their keys, so a slot is remembered by the
 * words that were hashed: the deposit and nonce of one sender show where those of another are.
 */
export class AccessPatterns {
  readonly #patterns = new Lru<string, Pattern>(MAX_PATTERNS)

  knows(name: string): boolean {
    return this.#patterns.get(name) !== undefined
  }

  /** The accounts and slots that an execution of this name for `subject` will likely touch. */
  recall(name: string, subject: AccessSubject): readonly Miss[] {
    const pattern = this.#patterns.get(name)
    return pattern ? applyPattern(pattern, subject) : []
  }

  learn(
    names: readonly string[],
    subject: AccessSubject,
    touched: Touched,
    preimages: readonly Preimage[],
  ): void {
    if (touchedIn(touched) > MAX_TOUCHED) return
    const pattern = makePattern(subject, touched, preimages)
    for (const name of names) this.#patterns.set(name, pattern)
  }
}

function touchedIn({ accounts, slots }: Touched): number {
  return [...slots.values()].reduce((sum, { size }) => sum + size, accounts.size)
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}
function addressWord(address: Address): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`
}

function makePattern(
  { sender, nonceKey }: AccessSubject,
  { accounts, slots }: Touched,
  preimages: readonly Preimage[],
): Pattern {
  const positions = new Map<Hex, number>()
  const hashes: Term[][] = []
  const senderWord = addressWord(sender)
  const keyWord = word(nonceKey)
  for (const { input, hash } of preimages) {
    if (hashes.length === MAX_HASHES) break
    const isMapping = input.length === 64
    if (!isMapping && input.length !== 32) continue
    const terms = wordsOf(input).map((value): Term => {
      if (value === senderWord) return 'sender'
      return positions.get(value) ?? value
    })
    // The key of a mapping inside a mapping by sender is likely a nonce's when it is that.
    if (isMapping && terms[0] === keyWord && typeof terms[1] === 'number') terms[0] = 'nonceKey'
    positions.set(toHex(hash), hashes.length)
    hashes.push(terms)
  }
  const place = (address: Address): Place => (address === sender ? 'sender' : address)
  const bases = [...positions].map(([hash, position]) => [BigInt(hash), position] as const)
  return {
    accounts: [...accounts].map(place),
    hashes,
    slots: [...slots].flatMap(([address, touched]) =>
      [...touched].map((slot) => [place(address), describe(slot, positions, bases)] as const),
    ),
  }
}

function wordsOf(input: Uint8Array): Hex[] {
  const words: Hex[] = []
  for (let at = 0; at < input.length; at += 32) words.push(toHex(input.subarray(at, at + 32)))
  return words
}

function describe(
  slot: Hex,
  positions: ReadonlyMap<Hex, number>,
  bases: readonly (readonly [bigint, number])[],
): SlotPattern {
  const exact = positions.get(slot)
  if (exact !== undefined) return { hash: exact, distance: 0n }
  const value = BigInt(slot)
  for (const [base, position] of bases) {
    const distance = value - base
    if (distance > 0n && distance < MAX_DISTANCE) return { hash: position, distance }
  }
  return slot
}

function applyPattern(pattern: Pattern, { sender, nonceKey }: AccessSubject): Miss[] {
  const made = new Map<number, Hex>()
  const wordOf = (term: Term): Hex => {
    if (term === 'sender') return addressWord(sender)
    if (term === 'nonceKey') return word(nonceKey)
    return typeof term === 'number' ? hashAt(term) : term
  }
  const hashAt = (position: number): Hex => {
    const known = made.get(position)
    if (known !== undefined) return known
    const terms = pattern.hashes[position] ?? []
    const hash: Hex = `0x${keccak(terms.map((term) => wordOf(term).slice(2)).join(''))}`
    made.set(position, hash)
    return hash
  }
  const addressOf = (place: Place): Address => (place === 'sender' ? sender : place)
  return [
    ...pattern.accounts.map((place) => ({ kind: 'account' as const, address: addressOf(place) })),
    ...pattern.slots.map(([place, slot]) => ({
      kind: 'slot' as const,
      address: addressOf(place),
      slot: typeof slot === 'string' ? slot : word(BigInt(hashAt(slot.hash)) + slot.distance),
    })),
  ]
}
