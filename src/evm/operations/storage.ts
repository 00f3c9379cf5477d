import type { Hex } from 'viem'
import { hexOfLimbs, slotKey } from '../bytes/limbs.js'
import {
  COLD_SLOT,
  STORAGE_CLEAR_REFUND,
  STORAGE_RESET,
  STORAGE_SENTRY,
  STORAGE_SET,
  WARM_ACCESS,
} from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { ENTRY_BYTES } from '../machine/record.js'
import { CONTINUE, OUT_OF_GAS, type Signal, STATIC_VIOLATION } from '../machine/signal.js'

export function sload(machine: Machine, frame: Frame): Signal {
  const { world } = machine
  const slot = world.slot(frame.self, frame.stack, frame.popLimbs())
  frame.gas -= slot.warm ? WARM_ACCESS : COLD_SLOT
  if (frame.gas < 0) return OUT_OF_GAS
  world.warm(slot)
  const value = world.read(frame.self, slot)
  const reads = frame.record?.reads
  if (reads !== undefined && !reads.has(slot.key) && machine.canRecord(ENTRY_BYTES))
    reads.set(slot.key, value)
  frame.pushBig(value)
  return CONTINUE
}

/** SSTORE with the metering of EIP-2200 as amended by EIP-2929 and EIP-3529. */
export function sstore(machine: Machine, frame: Frame): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  if (frame.gas <= STORAGE_SENTRY) return OUT_OF_GAS
  const { world } = machine
  const slot = world.slot(frame.self, frame.stack, frame.popLimbs())
  const next = frame.popBig()
  const current = world.read(frame.self, slot)
  const { original } = slot
  if (!slot.warm) frame.gas -= COLD_SLOT
  frame.gas -= writeCost(original, current, next)
  if (frame.gas < 0) return OUT_OF_GAS
  world.warm(slot)
  world.addRefund(writeRefund(original, current, next))
  const writes = frame.record?.writes
  if (writes !== undefined && machine.canRecord(ENTRY_BYTES))
    writes.set(slot.key, (writes.get(slot.key) ?? 0) + 1)
  if (current !== next) world.write(slot, next)
  return CONTINUE
}

function writeCost(original: bigint, current: bigint, next: bigint): number {
  if (current === next || current !== original) return WARM_ACCESS
  return original === 0n ? STORAGE_SET : STORAGE_RESET
}

function writeRefund(original: bigint, current: bigint, next: bigint): number {
  if (current === next) return 0
  if (current === original) return original !== 0n && next === 0n ? STORAGE_CLEAR_REFUND : 0
  let refund = 0
  if (original !== 0n && current === 0n) refund -= STORAGE_CLEAR_REFUND
  if (original !== 0n && next === 0n) refund += STORAGE_CLEAR_REFUND
  if (next === original) refund += (original === 0n ? STORAGE_SET : STORAGE_RESET) - WARM_ACCESS
  return refund
}

export function tload(machine: Machine, frame: Frame): Signal {
  const at = frame.popLimbs()
  noteTransient(machine, frame.record?.transientReads, frame, at)
  frame.pushBig(machine.world.readTransient(frame.self, slotKey(frame.stack, at)))
  return CONTINUE
}

export function tstore(machine: Machine, frame: Frame): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  const at = frame.popLimbs()
  noteTransient(machine, frame.record?.transientWrites, frame, at)
  const key = slotKey(frame.stack, at)
  machine.world.writeTransient(frame.self, key, frame.popBig())
  return CONTINUE
}

/** Adds the slot whose limbs are at `at` to the recorded ones, if there is a record. */
function noteTransient(
  machine: Machine,
  slots: Set<Hex> | undefined,
  frame: Frame,
  at: number,
): void {
  if (slots !== undefined && machine.canRecord(ENTRY_BYTES))
    slots.add(hexOfLimbs(frame.stack, at, 8))
}
