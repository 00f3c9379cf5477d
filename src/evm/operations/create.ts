import { create2Address, createAddress } from '../createAddress.js'
import { INITCODE_WORD, KECCAK_WORD, wordCount } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import { chargeState } from '../machine/gasBudget.js'
import type { Machine } from '../machine/machine.js'
import type { Message } from '../machine/message.js'
import { enterCreate, frameRefusal, refuseCreate } from '../machine/messages.js'
import {
  CODE_TOO_LARGE,
  OUT_OF_GAS,
  RETURN,
  type Signal,
  STATIC_VIOLATION,
} from '../machine/signal.js'
import type { EvmAccount } from '../state/account.js'

const MAX_NONCE = 2n ** 64n - 1n

/** CREATE and CREATE2. */
export function createFamily(machine: Machine, frame: Frame, op: number): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  const withSalt = op === 0xf5
  const value = frame.popBig()
  const inputAt = frame.popNumber()
  const inputSize = frame.popNumber()
  const salt = withSalt ? frame.popBig() : 0n
  const costs = machine.rules.gas
  if (inputSize > 2 * costs.maxCodeSize) return CODE_TOO_LARGE
  frame.gas -= (INITCODE_WORD + (withSalt ? KECCAK_WORD : 0)) * wordCount(inputSize)
  if (frame.gas < 0 || !frame.expand(inputAt, inputSize)) return OUT_OF_GAS

  const { world } = machine
  const { self } = frame
  const nonce = world.nonceOf(self)
  const input = frame.view(inputAt, inputSize).slice()
  const to: EvmAccount = withSalt
    ? world.account(create2Address(self.address, salt, input))
    : world.account(createAddress(self.address, nonce))
  const message: Message = {
    kind: withSalt ? 'CREATE2' : 'CREATE',
    from: self,
    to,
    caller: self,
    self: to,
    value,
    input,
    gas: allButOne64th(frame.gas),
    reservoir: frame.reservoir,
    accountGas: 0,
    isStatic: false,
    outputAt: 0,
    outputSize: 0,
  }
  const refusal = nonce >= MAX_NONCE ? 'nonce too high' : frameRefusal(machine, message)
  if (refusal !== undefined) {
    frame.gas -= message.gas
    return refuseCreate(machine, frame, message, refusal)
  }
  message.accountGas = costs.newAccountState > 0 && world.isEmpty(to) ? costs.newAccountState : 0
  if (!chargeState(frame, message.accountGas)) return OUT_OF_GAS
  message.gas = allButOne64th(frame.gas)
  message.reservoir = frame.reservoir
  frame.gas -= message.gas
  world.setNonce(self, nonce + 1n)
  world.warm(to)
  return enterCreate(machine, frame, message)
}

/** EIP-150. */
function allButOne64th(gas: number): number {
  return gas - Math.floor(gas / 64)
}

/** SELFDESTRUCT; from Cancun on (EIP-6780) it deletes only what the transaction created. */
export function selfDestruct(machine: Machine, frame: Frame): Signal {
  if (frame.isStatic) return STATIC_VIOLATION
  const { world } = machine
  const { self } = frame
  const heir = world.at(frame.stack, frame.popLimbs())
  const { gas: costs, transferLogs } = machine.rules
  if (!heir.warm) frame.gas -= costs.coldAccount
  if (frame.gas < 0) return OUT_OF_GAS
  world.warm(heir)
  const { balance } = world.load(self)
  if (balance !== 0n && world.isEmpty(heir)) {
    frame.gas -= costs.destructNewAccount
    if (frame.gas < 0 || !chargeState(frame, costs.newAccountState)) return OUT_OF_GAS
  }
  const deletes = self.created || !machine.rules.destructsOnlyCreated
  if (heir !== self) machine.transfer(self, heir, balance)
  else if (deletes && !transferLogs) world.setBalance(self, 0n)
  if (deletes) world.markDestroyed(self)
  return RETURN
}
