import { CALL_STIPEND } from '../gasCosts.js'
import type { Frame } from '../machine/frame.js'
import { chargeState } from '../machine/gasBudget.js'
import type { Machine } from '../machine/machine.js'
import type { Message } from '../machine/message.js'
import { enterCall } from '../machine/messages.js'
import type { FrameKind } from '../machine/record.js'
import { OUT_OF_GAS, type Signal, STATIC_VIOLATION } from '../machine/signal.js'
import type { EvmAccount } from '../state/account.js'
import { noteAccess } from './extCode.js'

const kinds: Readonly<Record<number, FrameKind>> = {
  241: 'CALL',
  242: 'CALLCODE',
  244: 'DELEGATECALL',
  250: 'STATICCALL',
}

/** CALL, CALLCODE, DELEGATECALL and STATICCALL. */
export function callFamily(machine: Machine, frame: Frame, op: number): Signal {
  const kind = kinds[op]!
  const carriesValue = kind === 'CALL' || kind === 'CALLCODE'
  const gasAsked = frame.popNumber()
  const to = machine.world.at(frame.stack, frame.popLimbs())
  const value = carriesValue ? frame.popBig() : 0n
  const inputAt = frame.popNumber()
  const inputSize = frame.popNumber()
  const outputAt = frame.popNumber()
  const outputSize = frame.popNumber()
  if (kind === 'CALL' && frame.isStatic && value !== 0n) return STATIC_VIOLATION
  if (!frame.expand(inputAt, inputSize) || !frame.expand(outputAt, outputSize)) return OUT_OF_GAS
  if (!payForTarget(machine, frame, to, value)) return OUT_OF_GAS
  const makes = kind === 'CALL' && value !== 0n && machine.world.isEmpty(to)
  const accountGas = makes ? machine.rules.gas.newAccountState : 0
  if (makes) frame.gas -= machine.rules.gas.callNewAccount
  if (frame.gas < 0 || !chargeState(frame, accountGas)) return OUT_OF_GAS
  noteAccess(machine, frame, op, to)

  const gas = Math.min(gasAsked, frame.gas - Math.floor(frame.gas / 64))
  frame.gas -= gas
  const keepsStorage = kind === 'CALLCODE' || kind === 'DELEGATECALL'
  const message: Message = {
    kind,
    from: frame.self,
    to,
    caller: kind === 'DELEGATECALL' ? frame.caller : frame.self,
    self: keepsStorage ? frame.self : to,
    value: kind === 'DELEGATECALL' ? frame.value : value,
    input: frame.view(inputAt, inputSize),
    gas: value === 0n ? gas : gas + CALL_STIPEND,
    reservoir: frame.reservoir,
    accountGas,
    isStatic: frame.isStatic || kind === 'STATICCALL',
    outputAt,
    outputSize,
  }
  return enterCall(machine, frame, message)
}

/** Access cost (EIP-2929, EIP-7702 for the delegate) and cost of value. */
function payForTarget(machine: Machine, frame: Frame, to: EvmAccount, value: bigint): boolean {
  frame.gas -= machine.accessCost(to)
  if (value !== 0n) frame.gas -= machine.rules.gas.callValue
  if (frame.gas < 0) return false
  if (to.precompile === undefined) {
    const delegate = machine.delegateOf(to)
    if (delegate !== undefined) frame.gas -= machine.accessCost(delegate)
  }
  return frame.gas >= 0
}
