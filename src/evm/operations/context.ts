import { COPY_WORD, wordCount } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { CONTINUE, OUT_OF_GAS, RETURN_DATA_BOUNDS, type Signal } from '../machine/signal.js'

export function address(_: Machine, frame: Frame): Signal {
  frame.pushAddress(frame.self)
  return CONTINUE
}

export function caller(_: Machine, frame: Frame): Signal {
  frame.pushAddress(frame.caller)
  return CONTINUE
}

export function callValue(_: Machine, frame: Frame): Signal {
  frame.pushBig(frame.value)
  return CONTINUE
}

export function gasPrice(machine: Machine, frame: Frame): Signal {
  frame.pushBig(machine.gasPrice)
  return CONTINUE
}

export function gasLeft(machine: Machine, frame: Frame): Signal {
  machine.inspector?.readGas?.(machine.depth, frame.gas)
  frame.pushNumber(frame.gas)
  return CONTINUE
}

export function programCounter(_: Machine, frame: Frame): Signal {
  frame.pushNumber(frame.pc - 1)
  return CONTINUE
}

export function memorySize(_: Machine, frame: Frame): Signal {
  frame.pushNumber(frame.size)
  return CONTINUE
}

export function calldataSize(_: Machine, frame: Frame): Signal {
  frame.pushNumber(frame.input.length)
  return CONTINUE
}

export function codeSize(_: Machine, frame: Frame): Signal {
  frame.pushNumber(frame.code.bytes.length)
  return CONTINUE
}

export function returnDataSize(_: Machine, frame: Frame): Signal {
  frame.pushNumber(frame.returnData.length)
  return CONTINUE
}

export function balance(machine: Machine, frame: Frame): Signal {
  const account = machine.world.at(frame.stack, frame.popLimbs())
  frame.gas -= machine.accessCost(account)
  if (frame.gas < 0) return OUT_OF_GAS
  frame.pushBig(machine.world.load(account).balance)
  return CONTINUE
}

export function selfBalance(machine: Machine, frame: Frame): Signal {
  frame.pushBig(machine.world.load(frame.self).balance)
  return CONTINUE
}

export function calldataCopy(_: Machine, frame: Frame): Signal {
  return copy(frame, frame.input)
}

export function codeCopy(_: Machine, frame: Frame): Signal {
  return copy(frame, frame.code.bytes)
}

export function returnDataCopy(_: Machine, frame: Frame): Signal {
  const to = frame.popNumber()
  const from = frame.popNumber()
  const size = frame.popNumber()
  if (from + size > frame.returnData.length) return RETURN_DATA_BOUNDS
  return copyTo(frame, frame.returnData, from, to, size)
}

function copy(frame: Frame, source: Uint8Array): Signal {
  const to = frame.popNumber()
  const from = frame.popNumber()
  const size = frame.popNumber()
  return copyTo(frame, source, from, to, size)
}

/** Pays for and does a copy to memory; shared by all *COPY instructions. */
export function copyTo(
  frame: Frame,
  source: Uint8Array,
  from: number,
  to: number,
  size: number,
): Signal {
  frame.gas -= COPY_WORD * wordCount(size)
  if (frame.gas < 0 || !frame.expand(to, size)) return OUT_OF_GAS
  frame.copyIn(source, from, to, size)
  return CONTINUE
}
