import type { Address, Hex } from 'viem'
import {
  type BlockAnswers,
  decodeReads,
  encodeRead,
  noAnswers,
  type Read,
  storageKey,
} from '../blockReads.js'
import { emptyCodeHash } from '../../evm/index.js'
import { runtime as slotReader } from '../contracts/generated/SlotReader.js'
import { runtime as stateReader } from '../contracts/generated/StateReader.js'
import { type BlockId, blockParameter, type Head } from '../head.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import type { CodeMemory } from './codeMemory.js'

/** Reads state of a block in one batch. Throws BlockGone when the node does not have the block. */
export type ReadState = (reads: readonly Read[], head: Head, pin: BlockId) => Promise<BlockAnswers>

/** Whether the node reads jointly; `trusted` when it once gave the same values as by single reads. */
type OverrideSupport = 'untried' | 'trusted' | 'refused'

/**
 * Reads that take slots, balances and hashes of code by one eth_call with overridden code where the node can; code
 * itself is read where no account with its hash was met. Some nodes know no overrides, or lose the storage of
 * an account whose code is overridden; so the first reads are made in both ways, until values that are not
 * zero were the same.
 */
export function createReadState(
  batch: (calls: readonly NodeCall[]) => Promise<readonly NodeAnswer[]>,
  codes: Pick<CodeMemory, 'withHash'>,
): ReadState {
  let support: OverrideSupport = 'untried'
  /** The codes of the last accounts were known, and most likely those of the next ones are. */
  let areFamiliar = false

  async function readSingly(
    reads: readonly Read[],
    head: Head,
    pin: BlockId,
  ): Promise<BlockAnswers> {
    const answers = noAnswers()
    const calls = reads.flatMap((read) => encodeRead(read, head, pin))
    decodeReads(reads, await batch(calls), answers)
    return answers
  }

  /** The code of these accounts that neither `answers` nor the memory has. */
  async function readCodes(
    accounts: readonly AccountRead[],
    { head, pin }: At,
    { answers, hashes }: JointAnswers,
  ): Promise<void> {
    if (accounts.length === 0) return
    const unknown = accounts.filter(({ address }) => !recall(address, hashes, answers))
    areFamiliar = unknown.length === 0
    const reads = unknown.filter(({ address }) => !answers.codes.has(address)).map(codeRead)
    if (reads.length === 0) return
    decodeReads(reads, await batch(reads.flatMap((read) => encodeRead(read, head, pin))), answers)
  }

  /** Adds what follows from the hash of an account's code; false where its code must be read. */
  function recall(
    address: Address,
    hashes: JointAnswers['hashes'],
    answers: BlockAnswers,
  ): boolean {
    const hash = hashes.get(address)
    const isAbsent = hash === ABSENT
    const code =
      isAbsent || hash === emptyCodeHash ? new Uint8Array() : hash && codes.withHash(hash)
    if (isAbsent) answers.nonces.set(address, 0n)
    if (code !== undefined) answers.codes.set(address, code)
    return code !== undefined
  }

  async function readJointly(
    reads: readonly Read[],
    head: Head,
    pin: BlockId,
  ): Promise<BlockAnswers | undefined> {
    const joint = { answers: noAnswers(), hashes: new Map<Address, Hex>() }
    const accounts = reads.filter(isAccount)
    const codeReads = areFamiliar ? [] : accounts.map(codeRead)
    const single = [...reads.filter((read) => !isJoint(read)), ...codeReads]
    const joints = encodeJoint(reads.filter(isJoint), pin)
    const calls = single.flatMap((read) => encodeRead(read, head, pin))
    const settled = await batch([...calls, ...joints.map(({ call }) => call)])
    decodeReads(single, settled.slice(0, calls.length), joint.answers)
    const isComplete = joints.every((each, i) =>
      decodeJoint(each, settled[calls.length + i], joint),
    )
    if (!isComplete) return undefined
    await readCodes(accounts, { head, pin }, joint)
    return joint.answers
  }

  async function readBoth(reads: readonly Read[], head: Head, pin: BlockId): Promise<BlockAnswers> {
    const answers = noAnswers()
    const jointly = { answers: noAnswers(), hashes: new Map<Address, Hex>() }
    const joint = reads.filter(isJoint)
    const joints = encodeJoint(joint, pin)
    const calls = reads.flatMap((read) => encodeRead(read, head, pin))
    const settled = await batch([...calls, ...joints.map(({ call }) => call)])
    decodeReads(reads, settled.slice(0, calls.length), answers)
    for (const [i, each] of joints.entries()) decodeJoint(each, settled[calls.length + i], jointly)
    support = compare(joint, answers, jointly)
    return answers
  }

  return async (reads, head, pin) => {
    if (support === 'trusted') {
      const answers = await readJointly(reads, head, pin)
      if (answers !== undefined) return answers
      // Either the block is gone, and single reads say so, or another node answers now.
      const single = await readSingly(reads, head, pin)
      support = 'untried'
      return single
    }
    if (support === 'refused') return readSingly(reads, head, pin)
    return readBoth(reads, head, pin)
  }
}

function compare(
  reads: readonly JointRead[],
  known: BlockAnswers,
  { answers, hashes }: JointAnswers,
): OverrideSupport {
  let proof = 0
  for (const read of reads) {
    const isSlot = read.kind === 'slot'
    const valueIn = ({ slots, balances }: BlockAnswers) =>
      isSlot ? slots.get(storageKey(read.address, read.slot)) : balances.get(read.address)
    const value = valueIn(known)
    if (valueIn(answers) !== value) return 'refused'
    const hash = read.kind === 'account' ? hashes.get(read.address) : undefined
    const isNone = hash === ABSENT || hash === emptyCodeHash
    if (isNone && known.codes.get(read.address)?.length !== 0) return 'refused'
    if (isSlot && value !== 0n) proof++
  }
  return proof > 0 ? 'trusted' : 'untried'
}

/** A read that one eth_call can make together with others of any number of accounts. */
type JointRead = Extract<Read, { readonly kind: 'slot' | 'balance' | 'account' }>
type AccountRead = Extract<Read, { readonly kind: 'account' }>

type At = { readonly head: Head; readonly pin: BlockId }

type JointAnswers = {
  readonly answers: BlockAnswers
  /** EXTCODEHASH of the accounts that ran their own code. */
  readonly hashes: Map<Address, Hex>
}

/** EXTCODEHASH of an account with neither code, nonce nor balance (EIP-1052). */
const ABSENT: Hex = `0x${'00'.repeat(32)}`

type Part = { readonly address: Address; readonly slots: readonly Hex[] }

/** A call that makes several reads, and the order of its answers. */
type Joint = { readonly call: NodeCall; readonly parts: readonly Part[] }

/** The address at which the reading code is pretended to be: ASCII "reader", no contract on any chain. */
const READER: Address = '0x0000000000000000000000000000726561646572'
/** Reads of one call. Each takes some 2,700 gas, and nodes grant a call ten million at least. */
const MOST_READS = 1_000
const GAS = '0x989680'
const WORD_DIGITS = 64

function isJoint(read: Read): read is JointRead {
  return read.kind === 'slot' || read.kind === 'balance' || read.kind === 'account'
}

function isAccount(read: Read): read is AccountRead {
  return read.kind === 'account'
}

function codeRead({ address }: AccountRead): Read {
  return { kind: 'code', address }
}

/**
 * The calls for these reads: code of ours in place of the accounts' own returns their slots. One such
 * call costs the node and us a small part of the cost of a call for each slot. Accounts have a call of their own, in
 * which their code is not replaced.
 */
function encodeJoint(reads: readonly JointRead[], pin: BlockId): readonly Joint[] {
  const accounts = reads.filter(isAccount)
  const others = accounts.length === 0 ? reads : reads.filter((read) => !isAccount(read))
  const joints: Joint[] = []
  for (const group of [others, accounts])
    for (let at = 0; at < group.length; at += MOST_READS)
      joints.push(encode(partsOf(group.slice(at, at + MOST_READS)), pin))
  return joints
}

/** Adds the answers; false, and nothing is added, where the node did not run our code. */
function decodeJoint(
  { parts }: Joint,
  settled: NodeAnswer | undefined,
  { answers, hashes }: JointAnswers,
): boolean {
  const words = parts.reduce((sum, { slots }) => sum + 2 + slots.length, 0)
  const result = settled?.ok ? settled.result : undefined
  if (typeof result !== 'string' || result.length !== 2 + words * WORD_DIGITS) return false
  let at = 2
  const next = (): Hex => {
    const word = result.slice(at, at + WORD_DIGITS)
    at += WORD_DIGITS
    return `0x${word}`
  }
  for (const { address, slots } of parts) {
    answers.balances.set(address, BigInt(next()))
    const hash = next()
    if (slots.length === 0) hashes.set(address, hash)
    for (const slot of slots) answers.slots.set(storageKey(address, slot), BigInt(next()))
  }
  return true
}

function partsOf(reads: readonly JointRead[]): Part[] {
  const parts = new Map<Address, Hex[]>()
  for (const read of reads) {
    const slots = parts.get(read.address) ?? []
    parts.set(read.address, slots)
    if (read.kind === 'slot') slots.push(read.slot)
  }
  return [...parts].map(([address, slots]) => ({ address, slots }))
}

function encode(parts: readonly Part[], pin: BlockId): Joint {
  const overrides: Record<Address, { readonly code: Hex }> = { [READER]: { code: stateReader } }
  let data = '0x'
  for (const { address, slots } of parts) {
    if (slots.length > 0) overrides[address] = { code: slotReader }
    data += slots.length.toString(16).padStart(WORD_DIGITS - 40, '0') + address.slice(2)
    for (const slot of slots) data += slot.slice(2)
  }
  const call = { to: READER, data, gas: GAS }
  return { call: { method: 'eth_call', params: [call, blockParameter(pin), overrides] }, parts }
}
