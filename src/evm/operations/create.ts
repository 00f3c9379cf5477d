import { create2Address, createAddress } from '../createAddress.js'
import { INITCODE_WORD, KECCAK_WORD, MAX_INITCODE_SIZE, wordCount } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import type { Machine } from '../machine/machine.js'
import type { Message } from '../machine/message.js'
import { enterCreate, frameRefusal, refuseCreate } from '../machine/messages.js'
import { CODE_TOO_LARGE, OUT_OF_GAS, type Signal, STATIC_VIOLATION } from '../machine/signal.js'
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
  if (inputSize > MAX_INITCODE_SIZE) return CODE_TOO_LARGE
  frame.gas -= (INITCODE_WORD + (withSalt ? KECCAK_WORD : 0)) * wordCount(inputSize)
  if (frame.gas < 0 || !frame.expand(inputAt, inputSize)) return OUT_OF_GAS

  const { world } = machine
  const { self } = frame
  const nonce = world.nonceOf(self)
  const input = frame.view(inputAt, inputSize).slice()
  const to: EvmAccount = withSalt
    ? world.account(create2Address(self.address, salt, input))
    : world.account(createAddress(self.address, nonce))
  const gas = frame.gas - Math.floor(frame.gas / 64)
  frame.gas -= gas
  const message: Message = {
    kind: withSalt ? 'CREATE2' : 'CREATE',
    from: self,
    to,
    caller: self,
    self: to,
    value,
    input,
    gas,
    isStatic: false,
    outputAt: 0,
    outputSize: 0,
  }
  const refusal = nonce >= MAX_NONCE ? 'nonce too high' : frameRefusal(machine, message)
  if (refusal !== undefined) return refuseCreate(machine, frame, message, refusal)
  world.setNonce(self, nonce + 1n)
  world.warm(to)
  return enterCreate(machine, frame, message)
}
