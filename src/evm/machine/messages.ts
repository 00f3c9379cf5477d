import { CALL_STIPEND, MAX_CALL_DEPTH, wordCount } from '../gasCosts.js'
import type { Precompile } from '../precompiles/precompile.js'
import type { EvmAccount } from '../state/account.js'
import { type Code, codeOf, emptyBytes, emptyCode } from '../state/code.js'
import type { Frame } from './frame.js'
import { absorb, chargeState, refundState } from './gasBudget.js'
import { execute } from './interpreter.js'
import type { Machine } from './machine.js'
import type { Message } from './message.js'
import { FRAME_BYTES, type FrameRecord, inputKept, outputKept } from './record.js'
import {
  CODE_REJECTED,
  CODE_TOO_LARGE,
  COLLISION,
  CONTINUE,
  ENTER,
  Exhausted,
  errorOf,
  type FrameError,
  OUT_OF_GAS,
  PRECOMPILE_FAILURE,
  RETURN,
  REVERT,
  type Signal,
  Unsupported,
} from './signal.js'
import type { InspectedCall } from './inspector.js'

/** Steps that take as long as beginning and ending a message. */
const STEPS_PER_MESSAGE = 10

/**
 * Begins a call. Either it is over at once (precompile, no code, refused) and its result is with
 * the parent, or a frame waits to be run and ENTER is returned. `parent` is undefined for the
 * transaction's own message.
 */
export function enterCall(machine: Machine, parent: Frame | undefined, message: Message): Signal {
  const { inspector } = machine
  const call =
    inspector !== undefined && parent !== undefined ? inspected(machine, message) : undefined
  if (call !== undefined && inspector?.endsRecord?.(call)) machine.recording = false
  const record = begin(machine, parent, message)
  if (call !== undefined) {
    const answer = inspector?.enter(call)
    if (answer !== undefined) {
      const signal = answer.success ? RETURN : REVERT
      return settle(machine, parent, message, record, signal, message.gas, answer.output)
    }
  }
  const refusal = frameRefusal(machine, message)
  if (refusal !== undefined) return refuse(machine, parent, message, record, refusal)
  const { world } = machine
  const mark = world.mark()
  if (message.kind === 'CALL') machine.transfer(message.from, message.to, message.value)
  const precompile = message.to.precompile
  if (precompile !== undefined) {
    return runPrecompile(machine, parent, message, record, precompile, mark)
  }
  if (machine.block.unknownPrecompiles?.has(message.to.address)) {
    throw new Unsupported(`unknown precompile at ${message.to.address}`)
  }
  const delegate = machine.delegateOf(message.to)
  const code =
    delegate === undefined ? world.load(message.to).code : delegateCode(machine, delegate)
  if (code.bytes.length === 0) {
    return settle(machine, parent, message, record, RETURN, message.gas, emptyBytes)
  }
  push(machine, message, code, record, mark)
  return ENTER
}

/** Code that runs for an EIP-7702 account: a delegate that is itself a precompile has none. */
function delegateCode(machine: Machine, delegate: EvmAccount): Code {
  if (delegate.precompile !== undefined) return emptyCode
  return machine.world.load(delegate).code
}

/**
 * Begins a creation at `message.to`, like `enterCall`. The sender's nonce has been raised and the
 * address warmed by the caller.
 */
export function enterCreate(machine: Machine, parent: Frame | undefined, message: Message): Signal {
  const record = begin(machine, parent, message)
  const { world } = machine
  const { to } = message
  world.load(to)
  if (to.code.bytes.length > 0 || to.hasStorage || world.nonceOf(to) !== 0n) {
    return settle(machine, parent, message, record, COLLISION, 0, emptyBytes)
  }
  const mark = world.mark()
  world.markCreated(to)
  world.setNonce(to, 1n)
  machine.transfer(message.from, to, message.value)
  push(machine, message, codeOf(message.input), record, mark)
  return ENTER
}

/** Refuses a creation before it begins: the gas goes back and nothing else happens. */
export function refuseCreate(
  machine: Machine,
  parent: Frame,
  message: Message,
  error: FrameError,
): Signal {
  return refuse(machine, parent, message, begin(machine, parent, message), error)
}

/** The reason why a call or creation may not even begin; undefined when it may. */
export function frameRefusal(machine: Machine, message: Message): FrameError | undefined {
  if (machine.depth + 1 > MAX_CALL_DEPTH) return 'call depth'
  const { kind, from, value } = message
  if (value === 0n || kind === 'DELEGATECALL') return undefined
  return machine.world.load(from).balance < value ? 'balance too low' : undefined
}

/** Runs frames until the outermost message has ended; its end is then in `machine.end`. */
export function runFrames(machine: Machine): void {
  while (machine.depth >= 0) {
    const frame = machine.frameAt(machine.depth)
    const signal = execute(machine, frame)
    if (signal !== ENTER) leave(machine, frame, signal)
  }
}

function push(
  machine: Machine,
  message: Message,
  code: Code,
  record: FrameRecord | undefined,
  mark: number,
): void {
  machine.depth++
  const creates = message.kind === 'CREATE' || message.kind === 'CREATE2'
  const frame = machine.frameAt(machine.depth)
  frame.reset(code, message.gas, message.reservoir)
  frame.message = message
  frame.caller = message.caller
  frame.self = message.self
  frame.value = message.value
  frame.input = creates ? emptyBytes : message.input
  frame.isStatic = message.isStatic
  frame.record = record
  frame.mark = mark
}

function leave(machine: Machine, frame: Frame, signal: Signal): void {
  const { message, record } = frame
  let end = signal
  if (end === RETURN && (message.kind === 'CREATE' || message.kind === 'CREATE2')) {
    end = deposit(machine, frame)
  }
  if (end >= REVERT) {
    machine.world.rollback(frame.mark)
    frame.gas = end === REVERT ? frame.gas + frame.spilled : 0
    frame.reservoir = message.reservoir
    frame.spilled = 0
  }
  const output = end >= OUT_OF_GAS ? emptyBytes : frame.output
  machine.depth--
  const parent = machine.depth >= 0 ? machine.frameAt(machine.depth) : undefined
  settle(machine, parent, message, record, end, frame.gas, output, frame)
}

/** Stores the output of initcode as the new account's code, if it is allowed and the gas suffices. */
function deposit(machine: Machine, frame: Frame): Signal {
  const code = frame.output.slice()
  const { gas } = machine.rules
  if (code.length > gas.maxCodeSize) return CODE_TOO_LARGE
  if (code[0] === 0xef) return CODE_REJECTED
  frame.gas -= gas.codeByte * code.length + gas.codeWord * wordCount(code.length)
  if (frame.gas < 0 || !chargeState(frame, gas.codeByteState * code.length)) return OUT_OF_GAS
  machine.world.setCode(frame.self, codeOf(code))
  return RETURN
}

function runPrecompile(
  machine: Machine,
  parent: Frame | undefined,
  message: Message,
  record: FrameRecord | undefined,
  precompile: Precompile,
  mark: number,
): Signal {
  const gas = message.gas - precompile.gas(message.input)
  if (gas < 0) {
    machine.world.rollback(mark)
    return settle(machine, parent, message, record, OUT_OF_GAS, 0, emptyBytes)
  }
  machine.stepsLeft -= (message.gas - gas) * precompile.stepsPerGas
  if (machine.stepsLeft < 0) throw new Exhausted('steps')
  const output = precompile.run(message.input)
  if (output !== undefined) {
    return settle(machine, parent, message, record, RETURN, gas, output)
  }
  machine.world.rollback(mark)
  return settle(machine, parent, message, record, PRECOMPILE_FAILURE, 0, emptyBytes)
}

/** What a frame that has ended leaves of state gas, and owes, and the gas that it could have done without. */
type FrameGas = Pick<Frame, 'reservoir' | 'spilled' | 'slack'>

/** Hands the result of an ended message to its parent, or out of the machine. */
function settle(
  machine: Machine,
  parent: Frame | undefined,
  message: Message,
  record: FrameRecord | undefined,
  signal: Signal,
  gas: number,
  output: Uint8Array,
  { reservoir, spilled, slack }: FrameGas = {
    reservoir: message.reservoir,
    spilled: 0,
    slack: Infinity,
  },
): Signal {
  if (signal === OUT_OF_GAS) machine.outOfGas = true
  const used = message.gas + message.reservoir - gas - reservoir
  if (record !== undefined) {
    record.gasUsed = used
    record.error = errorOf(signal)
    const kept = machine.detail ? output.length : outputKept(record.depth, output.length)
    if (machine.canRecord(kept)) record.output = output.slice(0, kept)
  }
  if (parent === undefined) {
    machine.end = { signal, gas, reservoir, spilled, output: output.slice() }
    return signal
  }
  const needed = message.gas - Math.min(gas, Math.max(slack, 0))
  noteNeed(parent, message, needed)
  absorb(parent, { gas, reservoir, spilled })
  if (signal !== RETURN && message.accountGas > 0) refundState(parent, message.accountGas)
  const creates = message.kind === 'CREATE' || message.kind === 'CREATE2'
  if (creates) {
    parent.returnData = signal === REVERT ? output : emptyBytes
    if (signal === RETURN) parent.pushAddress(message.to)
    else parent.pushNumber(0)
    return CONTINUE
  }
  const shown =
    machine.inspector === undefined
      ? output
      : (machine.inspector.leave(inspected(machine, message), {
          success: signal === RETURN,
          output,
          gasUsed: used,
          gasNeeded: needed + message.reservoir - reservoir,
        }) ?? output)
  parent.returnData = shown
  parent.copyIn(shown, 0, message.outputAt, Math.min(message.outputSize, shown.length))
  parent.pushNumber(signal === RETURN ? 1 : 0)
  return CONTINUE
}

/** The call as its inspector sees it, while its parent is the topmost frame. */
function inspected(machine: Machine, { from, to, input }: Message): InspectedCall {
  return { depth: machine.depth + 1, from: from.address, to: to.address, input }
}

/**
 * Bounds the parent's slack by a message that needed `needed` gas: when it began, the parent had to have that and
 * about a 63rd more, which a caller keeps (EIP-150). The parent's gas does not have yet what the message leaves.
 */
function noteNeed(parent: Frame, { kind, value, gas }: Message, needed: number): void {
  const isCall = kind === 'CALL' || kind === 'CALLCODE'
  const stipend = isCall && value !== 0n ? CALL_STIPEND : 0
  const before = parent.gas + gas - stipend
  const asked = Math.max(needed - stipend, 0)
  const least = asked === 0 ? 0 : asked + Math.floor((asked - 1) / 63)
  parent.slack = Math.min(parent.slack, before - least)
}

function refuse(
  machine: Machine,
  parent: Frame | undefined,
  message: Message,
  record: FrameRecord | undefined,
  error: FrameError,
): Signal {
  const signal = settle(machine, parent, message, record, REVERT, message.gas, emptyBytes)
  if (record !== undefined) record.error = error
  return signal
}

/** Opens the record of a message, where one is wanted. */
function begin(
  machine: Machine,
  parent: Frame | undefined,
  message: Message,
): FrameRecord | undefined {
  machine.stepsLeft -= STEPS_PER_MESSAGE
  const depth = machine.depth + 1
  const kept = machine.detail ? message.input.length : inputKept(depth, message.input.length)
  if (!machine.canRecord(FRAME_BYTES + kept)) return undefined
  const record: FrameRecord = {
    kind: message.kind,
    depth,
    from: message.from.address,
    to: message.to.address,
    storageAddress: message.self.address,
    value: message.value,
    gas: message.gas,
    gasUsed: 0,
    input: message.input.slice(0, kept),
    inputSize: message.input.length,
    output: emptyBytes,
    error: undefined,
    opcodes: new Uint32Array(8),
    reads: new Map(),
    writes: new Map(),
    transientReads: new Set(),
    transientWrites: new Set(),
    accesses: [],
    calls: [],
    detail: machine.detail ? { logs: [], slots: new Map() } : undefined,
  }
  if (parent === undefined) machine.root = record
  else parent.record!.calls.push(record)
  return record
}
