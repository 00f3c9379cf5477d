import type { Address } from 'viem'
import { applyAuthorizations, type EvmAuthorization } from '../authorization.js'
import { limbsOf } from '../bytes/limbs.js'
import { createAddress } from '../createAddress.js'
import { forks } from '../forks.js'
import { REFUND_QUOTIENT } from '../gasCosts.js'
import type { Envelope, IntrinsicGas } from '../intrinsicGas.js'
import type { CallResult, Outcome } from '../outcome.js'
import { emptyBytes } from '../state/code.js'
import { absorb, chargeState, type GasBudget, refundState } from './gasBudget.js'
import type { EvmContext, Machine } from './machine.js'
import type { Message } from './message.js'
import { enterCall, enterCreate, runFrames } from './messages.js'
import { Exhausted, errorOf, OUT_OF_GAS, RETURN, Unsupported } from './signal.js'

/** The parts that calls and transactions have in common. */
export type MessageInput = Envelope & {
  from: Address
  value: bigint
  /** Gas limit, intrinsic gas included. */
  gas: number
  authorizations?: readonly EvmAuthorization[] | undefined
}

/** Runs `body` on a machine and turns every way of ending into an outcome. */
export function withMachine(
  context: EvmContext,
  { gas }: MessageInput,
  create: () => Machine,
  body: (machine: Machine) => CallResult | { kind: 'invalid'; reason: string },
): Outcome {
  if (!forks.includes(context.block.fork)) {
    return { kind: 'unsupported', reason: `unknown fork ${context.block.fork}` }
  }
  if (!Number.isSafeInteger(gas)) return { kind: 'unsupported', reason: `gas limit ${gas}` }
  const machine = create()
  const { misses } = machine.world
  try {
    const outcome = body(machine)
    return misses.length > 0 ? { kind: 'missing', misses } : outcome
  } catch (error) {
    if (misses.length > 0) return { kind: 'missing', misses }
    if (error instanceof Unsupported) return { kind: 'unsupported', reason: error.message }
    if (error instanceof Exhausted) return { kind: 'exhausted', reason: error.message }
    throw error
  } finally {
    machine.release()
  }
}

/** The reason why no node would run a message with this gas limit; undefined when nodes would. */
export function gasRefusal({ gas }: MessageInput, needed: IntrinsicGas): string | undefined {
  if (gas < needed.intrinsic) return `gas limit ${gas} below intrinsic gas ${needed.intrinsic}`
  if (gas < needed.floor) return `gas limit ${gas} below the calldata floor ${needed.floor}`
  return undefined
}

/**
 * Runs a message between its checks and its fees: access list, sender's nonce,
 * authorizations, execution, refund and floor. `reservoir` is the part of its gas that only state gas
 * may take (EIP-8037).
 */
export function runMessage(
  machine: Machine,
  input: MessageInput,
  needed: IntrinsicGas,
  reservoir: number,
): CallResult {
  const { world } = machine
  const sender = machine.origin
  const nonce = world.nonceOf(sender)
  warmUp(machine, input)
  world.setNonce(sender, nonce + 1n)
  const gas = input.gas - needed.intrinsic - reservoir
  const budget: GasBudget = { gas, reservoir, spilled: 0 }
  const mark = world.mark()
  let paid = applyAuthorizations(machine, input, budget)
  const creates = input.to === undefined
  const to = world.account(input.to ?? createAddress(input.from, nonce))
  world.warm(to)
  const message: Message = {
    kind: creates ? 'CREATE' : 'CALL',
    from: sender,
    to,
    caller: sender,
    self: to,
    value: input.value,
    input: input.data,
    gas: budget.gas,
    reservoir: budget.reservoir,
    accountGas: 0,
    isStatic: false,
    outputAt: 0,
    outputSize: 0,
  }
  paid &&= payForRecipient(machine, message, budget)
  const start = { gas: budget.gas, reservoir: budget.reservoir }
  if (!paid) {
    world.rollback(mark)
    machine.end = { signal: OUT_OF_GAS, gas: 0, reservoir, spilled: 0, output: emptyBytes }
  } else {
    if (creates) enterCreate(machine, undefined, message)
    else enterCall(machine, undefined, message)
    runFrames(machine)
  }
  const end = machine.end!
  budget.gas = 0
  absorb(budget, end)
  if (end.signal !== RETURN) refundState(budget, message.accountGas)
  // What a refund of state gas pays back goes with the rest of a frame that halted.
  if (end.signal >= OUT_OF_GAS) budget.gas = 0
  const used = start.gas + start.reservoir - end.gas - end.reservoir
  return resultOf(machine, needed, input.gas - budget.gas - budget.reservoir, used)
}

/**
 * What the recipient costs before the first frame (EIP-2780): its account where the value or the creation makes
 * it, and its delegate, which is warm then. False when the gas does not suffice.
 */
function payForRecipient(machine: Machine, message: Message, budget: GasBudget): boolean {
  const { world, rules } = machine
  const { to, kind, value } = message
  if (rules.stateGas && (kind === 'CREATE' || value !== 0n) && world.isEmpty(to)) {
    message.accountGas = rules.gas.newAccountState
    if (!chargeState(budget, message.accountGas)) return false
  }
  if (kind === 'CALL' && to.precompile === undefined) {
    const delegate = machine.delegateOf(to)
    if (delegate !== undefined && rules.stateGas) budget.gas -= machine.accessCost(delegate)
    else if (delegate !== undefined) world.warm(delegate)
  }
  message.gas = budget.gas
  message.reservoir = budget.reservoir
  return budget.gas >= 0
}

/** EIP-2929, EIP-2930 and EIP-3651: what is warm before execution. Precompiles always are. */
function warmUp(machine: Machine, { accessList = [] }: MessageInput): void {
  const { world } = machine
  world.warm(machine.origin)
  world.warm(machine.coinbase)
  for (const { address, storageKeys } of accessList) {
    const account = world.account(address)
    world.warm(account)
    for (const key of storageKeys) world.warm(world.slot(account, limbsOf(key, 8), 0))
  }
}

function resultOf(
  machine: Machine,
  needed: IntrinsicGas,
  spent: number,
  executionGas: number,
): CallResult {
  const { signal, output } = machine.end!
  const refund = Math.min(machine.world.refund, Math.floor(spent / REFUND_QUOTIENT))
  return {
    kind: 'done',
    success: signal === RETURN,
    error: errorOf(signal),
    output,
    gasUsed: Math.max(spent - refund, needed.floor),
    executionGas,
    steps: machine.maxSteps - machine.stepsLeft,
    gasRefunded: refund,
    logs: machine.logs,
    changes: machine.world.changes(machine.rules.transferLogs),
    record: machine.executionRecord(),
  }
}
