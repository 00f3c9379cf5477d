import type { Hex } from 'viem'
import { hexOfLimbs, slotKey } from '../bytes/limbs.js'
import { COLD_SLOT, type GasCosts, STORAGE_SENTRY, WARM_ACCESS } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import { chargeState, refundState } from '../machine/gasBudget.js'
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

/** SSTORE with the metering of EIP-2200 as amended by EIP-2929, EIP-3529, EIP-8037 and EIP-8038. */
export function sstore(machine: Machine, frame: Frame): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  if (frame.gas <= STORAGE_SENTRY) return OUT_OF_GAS
  frame.slack = Math.min(frame.slack, frame.gas - STORAGE_SENTRY - 1)
  const { world } = machine
  const costs = machine.rules.gas
  const slot = world.slot(frame.self, frame.stack, frame.popLimbs())
  const next = frame.popBig()
  const current = world.read(frame.self, slot)
  const { original } = slot
  if (!slot.warm) frame.gas -= costs.writeColdSlot
  frame.gas -= writeCost(costs, original, current, next)
  if (frame.gas < 0) return OUT_OF_GAS
  if (original === 0n && current !== next) {
    if (current === 0n && !chargeState(frame, costs.slotSetState)) return OUT_OF_GAS
    if (next === 0n) refundState(frame, costs.slotSetState)
  }
  world.warm(slot)
  world.addRefund(writeRefund(costs, original, current, next))
  const writes = frame.record?.writes
  if (writes !== undefined && machine.canRecord(ENTRY_BYTES))
    writes.set(slot.key, (writes.get(slot.key) ?? 0) + 1)
  const slots = frame.record?.detail?.slots
  slots?.set(slot.key, { before: slots.get(slot.key)?.before ?? current, after: next })
  if (current !== next) world.write(slot, next)
  return CONTINUE
}

function writeCost(costs: GasCosts, original: bigint, current: bigint, next: bigint): number {
  if (current === next || current !== original) return WARM_ACCESS
  return original === 0n ? costs.slotSet : costs.slotReset
}

function writeRefund(costs: GasCosts, original: bigint, current: bigint, next: bigint): number {
  const cleared = costs.slotClearRefund
  if (current === next) return 0
  if (current === original) return original !== 0n && next === 0n ? cleared : 0
  let refund = 0
  if (original !== 0n && current === 0n) refund -= cleared
  if (original !== 0n && next === 0n) refund += cleared
  if (next === original) refund += (original === 0n ? costs.slotSet : costs.slotReset) - WARM_ACCESS
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
