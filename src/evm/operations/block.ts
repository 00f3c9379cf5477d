import type { BlockEnv } from '../block.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { CONTINUE, type Signal } from '../machine/signal.js'

/** Blocks whose hash BLOCKHASH still knows. */
const HASH_WINDOW = 256n

/** COINBASE to BASEFEE and SLOTNUM: the words of the block that need no argument. */
export function blockWord(machine: Machine, frame: Frame, op: number): Signal {
  if (op === 0x41) frame.pushAddress(machine.coinbase)
  else frame.pushBig(wordOf(machine.block, op))
  return CONTINUE
}

function wordOf(block: BlockEnv, op: number): bigint {
  switch (op) {
    case 0x42:
      return block.timestamp
    case 0x43:
      return block.number
    case 0x44:
      return BigInt(block.prevRandao)
    case 0x45:
      return block.gasLimit
    case 0x46:
      return block.chainId
    case 0x4b:
      return block.slotNumber ?? 0n
    default:
      return block.baseFee
  }
}

export function blockHash(machine: Machine, frame: Frame): Signal {
  const number = frame.popBig()
  const { block } = machine
  if (number >= block.number || number + HASH_WINDOW < block.number) {
    frame.pushNumber(0)
    return CONTINUE
  }
  const hash = block.blockHash(number)
  if (hash === undefined) machine.world.miss({ kind: 'blockHash', number })
  frame.pushBig(BigInt(hash ?? 0))
  return CONTINUE
}

export function origin(machine: Machine, frame: Frame): Signal {
  frame.pushAddress(machine.origin)
  return CONTINUE
}

export function blobHash(machine: Machine, frame: Frame): Signal {
  const index = frame.popNumber()
  frame.pushBig(BigInt(machine.blobHashes[index] ?? 0))
  return CONTINUE
}

export function blobBaseFee(machine: Machine, frame: Frame): Signal {
  frame.pushBig(machine.block.blobBaseFee)
  return CONTINUE
}
