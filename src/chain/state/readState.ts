import {
  type BlockAnswers,
  decodeReads,
  encodeRead,
  noAnswers,
  type Read,
  storageKey,
} from '../blockReads.js'
import type { BlockId, Head } from '../head.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import { decodeJoint, encodeJoint, isJoint, type JointRead } from './jointRead.js'

/** Reads state of a block in one batch. Throws BlockGone when the node does not have the block. */
export type ReadState = (reads: readonly Read[], head: Head, pin: BlockId) => Promise<BlockAnswers>

/** Whether the node reads jointly; `trusted` when it once gave the same values as by single reads. */
type OverrideSupport = 'untried' | 'trusted' | 'refused'

/**
 * Reads that take slots and balances by one eth_call with overridden code where the node can. Some nodes
 * know no overrides, or lose the storage of an account whose code is overridden; so the first reads are
 * made in both ways, until values that are not zero were the same.
 */
export function createReadState(
  batch: (calls: readonly NodeCall[]) => Promise<readonly NodeAnswer[]>,
): ReadState {
  let support: OverrideSupport = 'untried'

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

  async function readJointly(
    reads: readonly Read[],
    head: Head,
    pin: BlockId,
  ): Promise<BlockAnswers | undefined> {
    const answers = noAnswers()
    const single = reads.filter((read) => !isJoint(read))
    const joints = encodeJoint(reads.filter(isJoint), pin)
    const calls = single.flatMap((read) => encodeRead(read, head, pin))
    const settled = await batch([...calls, ...joints.map(({ call }) => call)])
    decodeReads(single, settled.slice(0, calls.length), answers)
    const isComplete = joints.every((joint, i) =>
      decodeJoint(joint, settled[calls.length + i], answers),
    )
    return isComplete ? answers : undefined
  }

  async function readBoth(reads: readonly Read[], head: Head, pin: BlockId): Promise<BlockAnswers> {
    const [answers, jointAnswers] = [noAnswers(), noAnswers()]
    const joint = reads.filter(isJoint)
    const joints = encodeJoint(joint, pin)
    const calls = reads.flatMap((read) => encodeRead(read, head, pin))
    const settled = await batch([...calls, ...joints.map(({ call }) => call)])
    decodeReads(reads, settled.slice(0, calls.length), answers)
    for (const [i, each] of joints.entries())
      decodeJoint(each, settled[calls.length + i], jointAnswers)
    support = compare(joint, answers, jointAnswers)
    return answers
  }

  return async (reads, head, pin) => {
    if (support === 'trusted') {
      const answers = await readJointly(reads, head, pin)
      if (answers !== undefined) return answers
      // Either the block is gone, and single reads tell so, or another node answers now.
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
  jointAnswers: BlockAnswers,
): OverrideSupport {
  let proof = 0
  for (const read of reads) {
    const isSlot = read.kind === 'slot'
    const valueIn = ({ slots, balances }: BlockAnswers) =>
      isSlot ? slots.get(storageKey(read.address, read.slot)) : balances.get(read.address)
    const value = valueIn(known)
    if (valueIn(jointAnswers) !== value) return 'refused'
    if (isSlot && value !== 0n) proof++
  }
  return proof > 0 ? 'trusted' : 'untried'
}
