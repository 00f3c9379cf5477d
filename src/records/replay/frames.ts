import type { Address, Hex } from 'viem'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { describeRevert } from '../../erc4337/revertReason.js'
import { validationsIn } from '../../erc4337/rules/index.js'
import { type FrameRecord, toHex } from '../../evm/index.js'
import { type Dictionary, nameData } from '../contractAbi.js'
import { standardFunctions } from '../describeCalls.js'
import { nameEvent } from './events.js'
import type { ReplayedFrame } from './replayed.js'

/** The names by which the frames of an operation are shown. */
export type FrameNames = {
  readonly entryPoint: EntryPoint
  readonly op: Operation
  /** Functions and errors of the contracts that its app named. */
  readonly functions: Dictionary
  readonly errors: Dictionary
}

/** The calls of the EntryPoint for one operation of a bundle, and the call of itself that executes it. */
export function framesOfOperation(
  { callLayout, address }: EntryPoint,
  ops: readonly Operation[],
  root: FrameRecord,
  place: number,
): { readonly validation: readonly FrameRecord[]; readonly execution: FrameRecord | undefined } {
  const isExecution = ({ to, input }: FrameRecord) =>
    to === address && toHex(input.subarray(0, 4)) === callLayout.innerHandleOp
  const calls = root.calls.filter((call) => !isExecution(call))
  const validation = validationsIn({ callLayout }, ops, { ...root, calls })[place] ?? []
  return { validation, execution: root.calls.filter(isExecution)[place] }
}

/** The deepest frame whose failure is that of `frame`: the failure of each above is handed up by its caller. */
export function originOf(frame: FrameRecord): FrameRecord {
  const failed = frame.calls.findLast(({ error }) => error !== undefined)
  if (failed === undefined) return frame
  const isHandedUp =
    failed.output.length > 0
      ? Buffer.from(frame.output).includes(Buffer.from(failed.output))
      : frame.calls.at(-1) === failed
  return isHandedUp ? originOf(failed) : frame
}

/** Frames, levels, and entries of a frame that are shown at most, and bytes of each call's data. */
const MOST_FRAMES = 400
const DEEPEST = 64
const MOST_ENTRIES = 50
const MOST_BYTES = 512

/**
 * The frames of `root` in the order of their calls, with those above the faulty one even where there are too many;
 * and whether some are left out.
 */
export function describeFrames(
  root: FrameRecord,
  fault: FrameRecord | undefined,
  names: FrameNames,
): { readonly frames: ReplayedFrame[]; readonly isCut: boolean } {
  const frames: ReplayedFrame[] = []
  let isCut = false
  const leadsToFault = (frame: FrameRecord): boolean =>
    frame === fault || frame.calls.some(leadsToFault)
  const visit = (frame: FrameRecord, isUndone: boolean): void => {
    const isTooMany = frames.length >= MOST_FRAMES || frame.depth > DEEPEST
    if (isTooMany && !(fault && leadsToFault(frame))) {
      isCut = true
      return
    }
    const undone = isUndone || frame.error !== undefined
    frames.push(describeFrame(frame, undone, frame === fault, names))
    for (const call of frame.calls) visit(call, undone)
  }
  visit(root, false)
  return { frames, isCut }
}

function describeFrame(
  frame: FrameRecord,
  isUndone: boolean,
  isFault: boolean,
  names: FrameNames,
): ReplayedFrame {
  const { depth, kind, from, to, value, gas, gasUsed, inputSize, output, error, detail } = frame
  return {
    depth,
    kind,
    from,
    to,
    gas,
    gasUsed,
    isUndone,
    isFault,
    value: String(value),
    role: roleOf(to, names),
    function: kind.startsWith('CREATE') ? null : functionOf(frame, names),
    input: shorten(frame.input),
    inputBytes: inputSize,
    output: shorten(output),
    outputBytes: output.length,
    error: error ?? null,
    reason: error === undefined ? null : reasonOf(toHex(output), names.errors),
    storage: [...(detail?.slots ?? [])]
      .filter(([, { before, after }]) => before !== after)
      .slice(0, MOST_ENTRIES)
      .map(([slot, { before, after }]) => ({ slot, before: word(before), after: word(after) })),
    events: (detail?.logs ?? []).slice(0, MOST_ENTRIES).map(nameEvent),
  }
}

function shorten(bytes: Uint8Array): Hex {
  return toHex(bytes.subarray(0, MOST_BYTES))
}

function word(value: bigint): Hex {
  return `0x${value.toString(16)}`
}

/** Revert data in words: by the errors of the app's contracts, else by those that are known. */
export function reasonOf(data: Hex, errors: Dictionary): string | null {
  const named = nameData(data, errors)
  if (named === undefined) return describeRevert(data) ?? null
  return `${named.name}(${named.args.map(({ value }) => value).join(', ')})`
}

function roleOf(to: Address, { entryPoint, op }: FrameNames): string | null {
  if (to === entryPoint.address) return `EntryPoint v${entryPoint.version}`
  if (to === op.sender) return 'account'
  if (to === op.paymaster) return 'paymaster'
  if (to === op.factory) return 'factory'
  return BigInt(to) <= LAST_PRECOMPILE ? 'precompile' : null
}

/** That of P-256. */
const LAST_PRECOMPILE = 0x100n

/** The EntryPoint's own functions have arguments that are the operation again: their name says enough. */
function functionOf(
  { input, depth }: FrameRecord,
  { entryPoint, functions }: FrameNames,
): ReplayedFrame['function'] {
  if (depth === 0) return { signature: 'handleOps', args: [] }
  const data = toHex(input)
  const selector = data.slice(0, 10)
  const layout = Object.entries(entryPoint.callLayout).find(([, value]) => value === selector)
  if (layout !== undefined) return { signature: layout[0], args: [] }
  const named = nameData(data, functions) ?? nameData(data, standardFunctions)
  return named ? { signature: named.signature, args: [...named.args] } : null
}
