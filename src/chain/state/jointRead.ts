import type { Address, Hex } from 'viem'
import { runtime as slotReader } from '../../contracts/generated/SlotReader.js'
import { runtime as stateReader } from '../../contracts/generated/StateReader.js'
import { type BlockAnswers, type Read, storageKey } from '../blockReads.js'
import { type BlockId, blockParameter } from '../head.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'

/** A read that one eth_call can make together with others of any number of accounts. */
export type JointRead = Extract<Read, { readonly kind: 'slot' | 'balance' }>

type Part = { readonly address: Address; readonly slots: readonly Hex[] }

/** A call that makes several reads, and the order of its answers. */
export type Joint = { readonly call: NodeCall; readonly parts: readonly Part[] }

/** The address at which the reading code is pretended to be: ASCII "reader", no contract on any chain. */
const READER: Address = '0x0000000000000000000000000000726561646572'
/** Reads of one call. Each takes some 2,500 gas, and nodes grant a call ten million at least. */
const MOST_READS = 1_000
const GAS = '0x989680'
const WORD_DIGITS = 64

export function isJoint(read: Read): read is JointRead {
  return read.kind === 'slot' || read.kind === 'balance'
}

/**
 * The calls for these reads: code of ours in place of the accounts' own returns their slots. One such
 * call costs the node and us a small part of the cost of a call for each slot.
 */
export function encodeJoint(reads: readonly JointRead[], pin: BlockId): readonly Joint[] {
  const joints: Joint[] = []
  for (let at = 0; at < reads.length; at += MOST_READS)
    joints.push(encode(partsOf(reads.slice(at, at + MOST_READS)), pin))
  return joints
}

/** Adds the answers; false, and nothing is added, where the node did not run our code. */
export function decodeJoint(
  { parts }: Joint,
  settled: NodeAnswer | undefined,
  answers: BlockAnswers,
): boolean {
  const words = parts.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
  const result = settled?.ok ? settled.result : undefined
  if (typeof result !== 'string' || result.length !== 2 + words * WORD_DIGITS) return false
  let at = 2
  const next = () => {
    const word = BigInt(`0x${result.slice(at, at + WORD_DIGITS)}`)
    at += WORD_DIGITS
    return word
  }
  for (const { address, slots } of parts) {
    answers.balances.set(address, next())
    for (const slot of slots) answers.slots.set(storageKey(address, slot), next())
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
