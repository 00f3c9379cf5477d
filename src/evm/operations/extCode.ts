import { COPY_WORD, wordCount } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { ENTRY_BYTES } from '../machine/record.js'
import { CONTINUE, OUT_OF_GAS, type Signal } from '../machine/signal.js'
import type { EvmAccount } from '../state/account.js'
import { copyTo } from './context.js'

const ISZERO = 0x15

export function extCodeSize(machine: Machine, frame: Frame, op: number): Signal {
  const account = machine.world.at(frame.stack, frame.popLimbs())
  frame.gas -= machine.accessCost(account)
  if (frame.gas < 0) return OUT_OF_GAS
  const { length } = machine.world.load(account).code.bytes
  noteAccess(machine, frame, op, account)
  frame.pushNumber(length)
  return CONTINUE
}

export function extCodeCopy(machine: Machine, frame: Frame, op: number): Signal {
  const account = machine.world.at(frame.stack, frame.popLimbs())
  const to = frame.popNumber()
  const from = frame.popNumber()
  const size = frame.popNumber()
  frame.gas -= machine.accessCost(account)
  if (frame.gas < COPY_WORD * wordCount(size)) return OUT_OF_GAS
  const { bytes } = machine.world.load(account).code
  noteAccess(machine, frame, op, account)
  return copyTo(frame, bytes, from, to, size)
}

export function extCodeHash(machine: Machine, frame: Frame, op: number): Signal {
  const account = machine.world.at(frame.stack, frame.popLimbs())
  frame.gas -= machine.accessCost(account)
  if (frame.gas < 0) return OUT_OF_GAS
  const empty = machine.world.isEmpty(account)
  noteAccess(machine, frame, op, account)
  if (empty) frame.pushNumber(0)
  else frame.pushBytes(account.code.hash(), 0)
  return CONTINUE
}

/** Records a touch of another account's code, with what was there at that moment. */
export function noteAccess(machine: Machine, frame: Frame, op: number, account: EvmAccount): void {
  if (frame.record === undefined || !machine.canRecord(ENTRY_BYTES)) return
  const delegate = account.precompile === undefined ? machine.delegateOf(account) : undefined
  frame.record.accesses.push({
    opcode: op,
    address: account.address,
    codeSize: account.code.bytes.length,
    delegate: delegate?.address,
    precompile: account.precompile !== undefined,
    testsExistence: op === 0x3b && frame.code.padded[frame.pc] === ISZERO,
  })
}
