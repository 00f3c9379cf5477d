import type { Address } from 'viem'
import { applyAuthorizations, type EvmAuthorization } from '../authorization.js'
import { limbsOf } from '../bytes/limbs.js'
import { createAddress } from '../createAddress.js'
import { forks } from '../forks.js'
import { REFUND_QUOTIENT } from '../gasCosts.js'
import type { Envelope, IntrinsicGas } from '../intrinsicGas.js'
import type { CallResult, Outcome } from '../outcome.js'
import type { EvmContext, Machine } from './machine.js'
import type { Message } from './message.js'
import { enterCall, enterCreate, runFrames } from './messages.js'
import { errorOf, RETURN } from './signal.js'
import { Exhausted, Unsupported } from './stops.js'

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
 * authorizations, execution, refund and floor.
 */
export function runMessage(
  machine: Machine,
  input: MessageInput,
  needed: IntrinsicGas,
): CallResult {
  const { world } = machine
  const sender = machine.origin
  const nonce = world.nonceOf(sender)
  warmUp(machine, input)
  world.setNonce(sender, nonce + 1n)
  if (input.authorizations !== undefined) applyAuthorizations(machine, input.authorizations)
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
    gas: input.gas - needed.intrinsic,
    isStatic: false,
    outputAt: 0,
    outputSize: 0,
  }
  if (creates) enterCreate(machine, undefined, message)
  else {
    const delegate = to.precompile === undefined ? machine.delegateOf(to) : undefined
    if (delegate !== undefined) world.warm(delegate)
    enterCall(machine, undefined, message)
  }
  runFrames(machine)
  return resultOf(machine, input, message, needed)
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
  input: MessageInput,
  message: Message,
  needed: IntrinsicGas,
): CallResult {
  const { signal, gas, output } = machine.end!
  const spent = input.gas - gas
  const refund = Math.min(machine.world.refund, Math.floor(spent / REFUND_QUOTIENT))
  return {
    kind: 'done',
    success: signal === RETURN,
    error: errorOf(signal),
    output,
    gasUsed: Math.max(spent - refund, needed.floor),
    executionGas: message.gas - gas,
    steps: machine.maxSteps - machine.stepsLeft,
    gasRefunded: refund,
    logs: machine.logs,
    changes: machine.world.changes(),
    record: machine.executionRecord(),
  }
}
