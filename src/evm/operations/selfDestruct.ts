import { CALL_NEW_ACCOUNT, COLD_ACCOUNT } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import { OUT_OF_GAS, RETURN, type Signal, STATIC_VIOLATION } from '../machine/signal.js'

/** SELFDESTRUCT; from Cancun on (EIP-6780) it deletes only what the transaction created. */
export function selfDestruct(machine: Machine, frame: Frame): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  const { world } = machine
  const { self } = frame
  const heir = world.at(frame.stack, frame.popLimbs())
  if (!heir.warm) frame.gas -= COLD_ACCOUNT
  if (frame.gas < 0) return OUT_OF_GAS
  world.warm(heir)
  const { balance } = world.load(self)
  if (balance !== 0n && world.isEmpty(heir)) frame.gas -= CALL_NEW_ACCOUNT
  if (frame.gas < 0) return OUT_OF_GAS
  const deletes = self.created || !machine.rules.destructsOnlyCreated
  if (heir !== self) world.transfer(self, heir, balance)
  else if (deletes) world.setBalance(self, 0n)
  if (deletes) world.markDestroyed(self)
  return RETURN
}
