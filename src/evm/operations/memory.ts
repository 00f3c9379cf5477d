import type { Hex } from 'viem'
import { keccak } from '../bytes/keccak.js'
import { hexOfLimbs } from '../bytes/limbs.js'
import { COPY_WORD, KECCAK_WORD, wordCount } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { ENTRY_BYTES, keepsPreimage } from '../machine/record.js'
import {
  CONTINUE,
  OUT_OF_GAS,
  RETURN,
  REVERT,
  type Signal,
  STATIC_VIOLATION,
} from '../machine/signal.js'

const LOG_BYTE = 8
/** Bytes that are hashed in the time of one step. */
const HASH_BYTES_PER_STEP = 16

export function storeByte(_: Machine, frame: Frame): Signal {
  const to = frame.popNumber()
  const at = frame.popLimbs()
  if (!frame.expand(to, 1)) return OUT_OF_GAS
  frame.memory[to] = frame.stack[at]!
  return CONTINUE
}

/** EIP-5656 MCOPY. */
export function memoryCopy(_: Machine, frame: Frame): Signal {
  const to = frame.popNumber()
  const from = frame.popNumber()
  const size = frame.popNumber()
  frame.gas -= COPY_WORD * wordCount(size)
  if (frame.gas < 0 || !frame.expand(Math.max(to, from), size)) return OUT_OF_GAS
  if (size > 0) frame.memory.copyWithin(to, from, from + size)
  return CONTINUE
}

export function hash(machine: Machine, frame: Frame): Signal {
  const from = frame.popNumber()
  const size = frame.popNumber()
  frame.gas -= KECCAK_WORD * wordCount(size)
  if (frame.gas < 0 || !frame.expand(from, size)) return OUT_OF_GAS
  machine.stepsLeft -= size / HASH_BYTES_PER_STEP
  const input = frame.view(from, size)
  const digest = keccak(input)
  if (keepsPreimage(size) && machine.canRecord(ENTRY_BYTES + size)) {
    machine.preimages.push({ input: input.slice(), hash: digest })
  }
  frame.pushBytes(digest, 0)
  return CONTINUE
}

/** LOG0 to LOG4. */
export function log(machine: Machine, frame: Frame, op: number): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  const from = frame.popNumber()
  const size = frame.popNumber()
  const topics: Hex[] = []
  for (let i = 0; i < op - 0xa0; i++) topics.push(hexOfLimbs(frame.stack, frame.popLimbs(), 8))
  frame.gas -= LOG_BYTE * size
  if (frame.gas < 0 || !frame.expand(from, size)) return OUT_OF_GAS
  const data = frame.view(from, size).slice()
  machine.addLog({ address: frame.self.address, topics, data })
  return CONTINUE
}

/** RETURN and REVERT. */
export function returnOrRevert(_: Machine, frame: Frame, op: number): Signal {
  const from = frame.popNumber()
  const size = frame.popNumber()
  if (!frame.expand(from, size)) return OUT_OF_GAS
  frame.output = frame.view(from, size)
  return op === 0xf3 ? RETURN : REVERT
}
